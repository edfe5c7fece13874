package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

const sample = `{"date":"2026-11-23","machine":"2 cores"}
{"set":"chunks","what":"mean","who":"wildgraph","unit":"µs","value":100,"round":1}
{"set":"chunks","what":"mean","who":"old 1","unit":"µs","value":900,"round":1}
{"set":"chunks","what":"mean","who":"new 2","unit":"µs","value":320,"round":1}
{"set":"chunks","what":"mean","who":"wildgraph","unit":"µs","value":80,"round":2}
{"set":"chunks","what":"mean","who":"new 2","unit":"µs","value":330,"round":2}
{"set":"text","what":"words","who":"wildgraph","unit":"MB/s","value":1200.4,"round":1}
{"set":"text","what":"words","who":"new 2","unit":"MB/s","value":400,"round":1}
{"set":"text","what":"recall","who":"wildgraph","value":0.99,"plain":true}
`

// The lowest time and the highest rate count, and the ratio is relative to the best peer.
func TestTable(t *testing.T) {
	list := check.Of(read(strings.NewReader(sample))).OK(t)
	var b strings.Builder
	table(&b, list)
	for _, want := range []string{
		"2026-11-23, 2 cores.",
		"| mean | µs | 80 / 100 | new 2 320 / 330 | **4.00** | old 1 900 |",
		"| words | MB/s | 1,200 | new 2 400 | **3.00** |  |",
		"| recall |  | 0.990 | – |  |  |",
	} {
		check.Contains(t, b.String(), want)
	}
}

// Many sets with the same quantities make one table, with a row for each set and peer.
func TestWideTable(t *testing.T) {
	text := `{"date":"2026-11-23","machine":"2 cores"}` + "\n"
	for _, set := range []string{"a", "b", "c", "d", "e", "f"} {
		for _, of := range []string{`"who":"wildgraph","value":2`, `"who":"old 1","value":900`, `"who":"new 2","value":3`} {
			text += `{"set":"` + set + `","what":"mean","unit":"µs",` + of + "}\n"
		}
	}
	list := check.Of(read(strings.NewReader(text + `{"set":"f","what":"calls","who":"new 2","value":7,"plain":true}`))).OK(t)
	var b strings.Builder
	table(&b, list)
	for _, want := range []string{"| | mean, µs |\n", "| a: new 2 | 2 / 3 |\n", "| f: old 1 | 2 / 900 |\n"} {
		check.Contains(t, b.String(), want)
	}
}

// Text outside of the marks is kept, and a second renewal changes nothing.
func TestRenew(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "performance.md")
	check.OK(t, os.Mkdir(filepath.Join(dir, "performance"), 0o755))
	check.OK(t, os.WriteFile(page, []byte("before\n<!-- peers x -->\nold\n<!-- /peers -->\nafter\n"), 0o644))
	check.OK(t, run(dir, false, []string{"x"}, strings.NewReader(sample)))
	first, _ := os.ReadFile(page)
	check.OK(t, run(dir, true, nil, nil))
	second, _ := os.ReadFile(page)
	text := string(second)
	if string(first) != text || !strings.HasPrefix(text, "before\n") || !strings.HasSuffix(text, "\nafter\n") || strings.Contains(text, "old\n") {
		t.Errorf("renewed twice:\n%s\nonce:\n%s", text, first)
	}
}

// Faulty figures leave the stored ones unchanged.
func TestBroken(t *testing.T) {
	for _, in := range []string{"", "{", `{"set":"x","what":"y","who":"z"}`, `{"date":"d","machine":"m"}` + "\n" + `{"speed":1}`} {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		check.True(t, keep(path, strings.NewReader(in)) != nil, "%q was kept", in)
		check.True(t, check.Err(os.Stat(path)) != nil, "%q was written", in)
	}
}

// The page agrees with the stored figures.
func TestPage(t *testing.T) {
	docs := filepath.Join("..", "..")
	page := check.Of(os.ReadFile(filepath.Join(docs, "performance.md"))).OK(t)
	want := check.Of(renew(page, filepath.Join(docs, "performance"))).OK(t)
	check.Equal(t, string(want), string(page), "docs/performance.md is not what its figures say: go run ./docs/performance/peers -render")
}
