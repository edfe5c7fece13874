//go:build linux

// Command encode measures sentence encoding for .ci/peers encode: see the file run.
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
)

func main() { figure.Main("encode", run) }

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "texts":
		return writeTexts(args[1])
	case len(args) == 6 && args[0] == "encode":
		tokens, err1 := strconv.Atoi(args[4])
		round, err2 := strconv.Atoi(args[5])
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		return encode(ctx, args[1], args[2], args[3], tokens, round)
	}
	return fmt.Errorf("usage: encode texts DATA | encode MODEL TEXTS VECTORS TOKENS ROUND")
}

// writeTexts prints a passage from each of the first pages.
func writeTexts(data string) error {
	const passages, words = 128, 125
	var out []string
	err := fs.WalkDir(os.DirFS(data), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".txt" || len(out) >= passages {
			return err
		}
		page, err := os.ReadFile(path.Join(data, name))
		if all := strings.Fields(strings.ToValidUTF8(string(page), "")); len(all) >= 3*words {
			out = append(out, strings.Join(all[2*words:3*words], " "))
		}
		return err
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// encode measures tokens per second, of CPU time on one core and of wall time on several, with float32 and int8
// weights, and writes the vectors.
func encode(ctx context.Context, model, file, vectors string, tokens, round int) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var texts []string
	if err := json.Unmarshal(b, &texts); err != nil {
		return err
	}
	out, err := os.Create(vectors)
	if err != nil {
		return err
	}
	where := "one core"
	if runtime.GOMAXPROCS(0) > 1 {
		where = "two cores, wall time"
	}
	for _, kind := range []string{"float32", "int8"} {
		e, err := local.Open(model, local.Options{Int8: kind == "int8"})
		if err != nil {
			return err
		}
		var v [][]float32
		best := 0.
		for pass := range 3 {
			start := now()
			if v, err = e.EmbedDocuments(ctx, texts); err != nil {
				return err
			}
			if took := now() - start; pass == 1 || pass > 1 && took < best {
				best = took
			}
		}
		f := figure.Figure{Set: fmt.Sprintf("all-MiniLM-L6-v2, %d passages of 125 words", len(texts)), Who: figure.Us, Round: round}
		f.Show(kind+", "+where, float64(tokens)/best, "tokens/s")
		for _, x := range v {
			if err := binary.Write(out, binary.LittleEndian, x); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

// now returns the CPU time of the process if it has one core, else the wall time, in seconds.
func now() float64 {
	if runtime.GOMAXPROCS(0) > 1 {
		return float64(time.Now().UnixNano()) / 1e9
	}
	return figure.CPU()
}
