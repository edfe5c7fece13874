// Command peers writes the tables of docs/performance.md that compare with other programs:
// `.ci/peers NAME` measures, and pipes its figures into
//
//	go run ./docs/performance/peers NAME < figures.jsonl
//
// which writes them to docs/performance/NAME.jsonl and updates the table between the marks
// <!-- peers NAME --> and <!-- /peers --> of docs/performance.md. With -render it only updates the
// tables, from these files.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	render := flag.Bool("render", false, "renew the tables from the figures that are kept, measure nothing")
	folder := flag.String("docs", "docs", "the folder of performance.md")
	flag.Parse()
	if err := run(*folder, *render, flag.Args(), os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(folder string, render bool, names []string, in io.Reader) error {
	if !render {
		if len(names) != 1 {
			return fmt.Errorf("want one NAME, of a folder in docs/performance/peers; got %d", len(names))
		}
		if err := keep(filepath.Join(folder, "performance", names[0]+".jsonl"), in); err != nil {
			return err
		}
	}
	page := filepath.Join(folder, "performance.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err = renew(text, filepath.Join(folder, "performance"))
	if err != nil {
		return err
	}
	return os.WriteFile(page, text, 0o644)
}

// keep checks figures and writes them to a file.
func keep(path string, in io.Reader) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if _, err := read(bytes.NewReader(text)); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

const (
	open  = "<!-- peers "
	shut  = " -->\n"
	close = "<!-- /peers -->"
)

// renew writes the current tables between the marks of a page.
func renew(page []byte, figures string) ([]byte, error) {
	var out strings.Builder
	rest := string(page)
	for {
		before, after, found := strings.Cut(rest, open)
		out.WriteString(before)
		if !found {
			return []byte(out.String()), nil
		}
		name, body, found := strings.Cut(after, shut)
		_, behind, closed := strings.Cut(body, close)
		if !found || !closed || strings.ContainsAny(name, "/\\ \n") {
			return nil, fmt.Errorf("performance.md: the mark %q has no end: want %sNAME%s and %s", open+name, open, strings.TrimSpace(shut), close)
		}
		file, err := os.Open(filepath.Join(figures, name+".jsonl"))
		if err != nil {
			return nil, err
		}
		list, err := read(file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s.jsonl: %w", name, err)
		}
		out.WriteString(open + name + shut)
		table(&out, list)
		out.WriteString(close)
		rest = behind
	}
}
