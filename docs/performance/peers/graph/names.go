//go:build linux

package main

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
)

// window is the number of words in which names occur together.
const window = 75

// namesOf returns a graph of the names on the pages of WildGraphBench. A name is a run of capitalised words. Each
// window of 75 words adds an edge of weight 1 for each pair of different names in it. Names are numbered in order of
// appearance, without names that have no edge.
func namesOf(dir string) (graphragtest.EdgeList, error) {
	c := cooccurrence{ids: map[string]int32{}}
	pages, _, err := figure.Pages(dir)
	for _, page := range pages {
		for w := range slices.Chunk(strings.Fields(page.Text), window) {
			c.join(w)
		}
	}
	return graphragtest.EdgeList{N: len(c.ids), Edges: c.edges}, err
}

type cooccurrence struct {
	ids   map[string]int32
	edges []graph.Edge
}

// join adds the edges of one window.
func (c *cooccurrence) join(words []string) {
	found := names(words)
	if len(found) < 2 {
		return
	}
	ids := make([]int32, len(found))
	for i, name := range found {
		id, ok := c.ids[name]
		if !ok {
			id = int32(len(c.ids))
			c.ids[name] = id
		}
		ids[i] = id
	}
	for i, u := range ids {
		for _, v := range ids[i+1:] {
			c.edges = append(c.edges, graph.Edge{From: u, To: v, Weight: 1})
		}
	}
}

// names returns the different runs of capitalised words. Punctuation at the end
// of a word ends the run.
func names(words []string) []string {
	var found, parts []string
	end := func() {
		if name := strings.Join(parts, " "); name != "" && !slices.Contains(found, name) {
			found = append(found, name)
		}
		parts = parts[:0]
	}
	for _, word := range words {
		bare := strings.TrimFunc(word, notWord)
		if first, _ := utf8.DecodeRuneInString(bare); !unicode.IsUpper(first) {
			end()
			continue
		}
		if !strings.HasPrefix(word, bare) {
			end()
		}
		parts = append(parts, bare)
		if !strings.HasSuffix(word, bare) {
			end()
		}
	}
	end()
	return found
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
