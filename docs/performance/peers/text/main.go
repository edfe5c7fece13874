//go:build linux

// Command text measures words and tokens for .ci/peers text: see the file run.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/tiktoken-go/tokenizer"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "text:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: text FILE ROUND; round 0 writes FILE")
	}
	round, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	if round == 0 {
		return write(args[0])
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var pages []string
	for page := range bytes.SplitSeq(data, []byte{0}) {
		pages = append(pages, string(page))
	}
	return measure(pages, len(data), round)
}

// write puts the raw pages of a domain one behind the other, with a zero between them.
func write(name string) error {
	var out bytes.Buffer
	root := filepath.Join(os.Getenv("WILDGRAPHBENCH_DIR"), "corpus", "people")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) != "reference_pages" {
			return err
		}
		page, err := os.ReadFile(path)
		if out.Len() > 0 {
			out.WriteByte(0)
		}
		out.Write(bytes.ToValidUTF8(bytes.ReplaceAll(page, []byte{0}, nil), []byte("?")))
		return err
	})
	if err == nil && out.Len() < 1<<20 {
		err = fmt.Errorf("%s has no pages", root)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o644)
}

func cpu() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func measure(pages []string, size, round int) error {
	a := text.Default()
	ours := func(s string) (n int) {
		a.Words(s, func([]byte) bool { n++; return true })
		return n
	}
	uax29 := func(s string) (n int) {
		for w := words.FromString(s); w.Next(); {
			n++
		}
		return n
	}
	type way struct {
		what, who string
		count     func(string) int
		passes    int
	}
	ways := []way{{"words", "wildgraph", ours, 5}, {"words", "uax29 2.7.0", uax29, 2}}
	for _, e := range []struct {
		ours *tokens.Counter
		name tokenizer.Encoding
	}{{tokens.Cl100k(), tokenizer.Cl100kBase}, {tokens.O200k(), tokenizer.O200kBase}} {
		codec, err := tokenizer.Get(e.name)
		if err != nil {
			return err
		}
		what := "tokens counted, " + string(e.name)
		ways = append(ways, way{what, "wildgraph", e.ours.Count, 3}, way{what, "tiktoken-go 0.10.0", func(s string) int { n, _ := codec.Count(s); return n }, 1})
	}
	for _, w := range ways {
		best := 0.
		for i := range w.passes {
			start := cpu()
			for _, p := range pages {
				w.count(p)
			}
			if took := cpu() - start; i == 0 || took < best {
				best = took
			}
		}
		line, _ := json.Marshal(map[string]any{"set": "raw pages of a domain", "what": w.what, "who": w.who, "round": round, "unit": "MB/s", "value": float64(size) / 1e6 / best})
		fmt.Println(string(line))
	}
	return nil
}
