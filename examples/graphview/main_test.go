// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/internal/check"
)

func files(t *testing.T, byName map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range byName {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// graphFile writes a file of extractions.
func graphFile(t *testing.T) string {
	t.Helper()
	line := `{"chunk": "a#0", "doc": "a", "facts": [{"head": "Colin Archer", "relation": "built", "tail": "Fram"}]}`
	return filepath.Join(files(t, map[string]string{"graph.jsonl": line + "\n"}), "graph.jsonl")
}

func TestGraphs(t *testing.T) {
	pages := files(t, map[string]string{
		"fram.md": "# The Fram\n\nColin Archer built the Fram in Larvik. Fridtjof Nansen sailed with the Fram.\n", "photo.xyz": "\x00\x01",
	})
	light := files(t, map[string]string{
		"kv_store_text_chunks.json": `{"chunk-1": {"content": "Colin Archer built the Fram.", "file_path": "fram.txt"}}`,
		"graph_chunk_entity_relation.graphml": `<graphml><key id="d0" for="node" attr.name="description"/><key id="d1" for="node" attr.name="source_id"/>
			<key id="d2" for="edge" attr.name="description"/><key id="d3" for="edge" attr.name="source_id"/><graph>
			<node id="Colin Archer"><data key="d0">A builder.</data><data key="d1">chunk-1</data></node><node id="Fram"><data key="d0">A ship.</data><data key="d1">chunk-1</data></node>
			<edge source="Colin Archer" target="Fram"><data key="d2">He built her.</data><data key="d3">chunk-1</data></edge></graph></graphml>`,
	})
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"documents": {[]string{pages}, []string{">Fram</text>", ">Colin Archer</text>", ">Fridtjof Nansen</text>"}},
		"document":  {[]string{filepath.Join(pages, "fram.md")}, []string{">Fram</text>", ">Colin Archer</text>"}},
		"LightRAG":  {[]string{light}, []string{">Fram</text>", ">Colin Archer</text>"}},
		"base":      {[]string{graphFile(t)}, []string{">Fram</text>", ">Colin Archer</text>"}},
		"question":  {[]string{"-q", "Who built the Fram?", light}, []string{">Fram</text>"}},
		"one":       {[]string{"-max-nodes", "1", "-title", "Mine", light}, []string{"<title>Mine</title>"}},
	} {
		out := filepath.Join(t.TempDir(), "g.svg")
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), append([]string{"-out", out}, tt.args...), &stdout, &stderr); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		picture, err := os.ReadFile(out)
		for _, want := range tt.want {
			check.True(t, err == nil && strings.Contains(string(picture), want),
				"%s: %v, no %s in\n%s", name, err, want, picture)
		}
		if !strings.Contains(stdout.String(), "Written: "+out) || name == "question" && !strings.Contains(stdout.String(), "Colin Archer built the Fram") {
			t.Errorf("%s: %s", name, stdout.String())
		}
		check.True(t, name != "documents" || strings.Contains(stderr.String(), "xyz"), "what was left out is not said: %s", stderr.String())
	}
	for path, rules := range map[string]bool{light: false, pages: true} {
		out := filepath.Join(t.TempDir(), "g.html")
		check.OK(t, run(t.Context(), []string{"-out", out, path}, &bytes.Buffer{}, &bytes.Buffer{}))
		page, err := os.ReadFile(out)
		check.True(t, err == nil && strings.Contains(string(page), "Content-Security-Policy") &&
			strings.Contains(string(page), byRules) == rules, "the page of %s: %v", path, err)
	}
}

func TestUsage(t *testing.T) {
	base := graphFile(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "want one PATH"},
		{[]string{"-out", "graph.pdf", base}, "ends in .html or .svg"},
		{[]string{"-max-nodes", "-1", base}, "want 0 or more"},
		{[]string{"-q", "Who?", base}, "has no texts"},
		{[]string{"-titel", "x", base}, "did you mean -title?"},
	} {
		err := run(t.Context(), tt.args, &bytes.Buffer{}, &bytes.Buffer{})
		check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), tt.want), "%q: %v, want %q", tt.args, err, tt.want)
	}
	var help bytes.Buffer
	err := run(t.Context(), []string{"-h"}, &bytes.Buffer{}, &help)
	check.True(t, errors.Is(err, flag.ErrHelp) && strings.Contains(help.String(), "PATH follows the flags"), "%v, %s", err, help.String())
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), filepath.Join(files(t, map[string]string{"x": "no base"}), "x"), t.TempDir()} {
		err := run(t.Context(), []string{"-out", filepath.Join(t.TempDir(), "g.html"), path}, &bytes.Buffer{}, &bytes.Buffer{})
		check.True(t, err != nil, "%s is drawn", path)
	}
}
