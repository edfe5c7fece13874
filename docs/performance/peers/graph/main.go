//go:build linux

// Command graph measures Leiden and PageRank on graphs for .ci/peers graph, see the file run.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
)

func main() { figure.Main("graph", run) }

func run(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: graph names|planted DATA ROUND; round 0 writes DATA")
	}
	list, set, err := edges(args[0])
	if err != nil {
		return err
	}
	round, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	if round == 0 {
		return write(args[1], set, list)
	}
	return measure(ctx, set, list, round)
}

// edges returns the edges of a graph and its title in tables.
func edges(name string) (list graphragtest.EdgeList, set string, err error) {
	switch name {
	case "names":
		list, err = namesOf(os.Getenv("WILDGRAPHBENCH_DIR"))
		return merged(list), "names that stand together on the pages", err
	case "planted":
		return graphragtest.Planted(1e6, 5e6, 1000, .3, 1), "planted partition, 1,000,000 nodes", nil
	}
	return list, "", fmt.Errorf("no graph is called %q: want names or planted", name)
}

// merged returns one edge for each pair of nodes, with the sum of the pair's weights.
func merged(list graphragtest.EdgeList) graphragtest.EdgeList {
	g := list.Graph()
	list.Edges = list.Edges[:0]
	for u := range int32(g.N()) {
		for at := g.Offsets()[u]; at < g.Offsets()[u+1]; at++ {
			if v := g.Targets()[at]; u <= v {
				list.Edges = append(list.Edges, graph.Edge{From: u, To: v, Weight: g.Weights()[at]})
			}
		}
	}
	return list
}

const resets = 32

// write writes the edges, and the sets of nodes to which PageRank resets, for the other programs.
func write(data, set string, list graphragtest.EdgeList) error {
	var ends, weights, sets bytes.Buffer
	for _, e := range list.Edges {
		ends.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(e.From)), uint32(e.To)))
		if err := binary.Write(&weights, binary.LittleEndian, e.Weight); err != nil {
			return err
		}
	}
	if err := json.NewEncoder(&sets).Encode(map[string]any{"set": set, "n": list.N, "resets": graphragtest.Resets(list.Graph(), resets, 1)}); err != nil {
		return err
	}
	for name, b := range map[string]*bytes.Buffer{".edges": &ends, ".weights": &weights, ".resets": &sets} {
		if err := os.WriteFile(data+name, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// cpu calls do and returns the CPU time it takes, in seconds.
func cpu(do func() error) (float64, error) {
	before := figure.CPU()
	err := do()
	return figure.CPU() - before, err
}

func measure(ctx context.Context, set string, list graphragtest.EdgeList, round int) error {
	f := figure.Figure{Set: set, Who: figure.Us, Round: round}
	g := list.Graph()
	var p community.Partition
	took, err := cpu(func() (err error) {
		p, err = community.Leiden(ctx, g, community.Options{MaxPasses: 2, Seed: uint64(round)})
		return err
	})
	if err != nil {
		return err
	}
	f.Show("Leiden, two passes", took, "CPU s")
	f.Show("modularity", p.Quality, "")
	for _, damping := range []float64{.5, .85} {
		if err := walks(ctx, f, g, damping); err != nil {
			return err
		}
	}
	return nil
}

// walks measures PageRank with a damping per query, after one query that allocates the memory.
func walks(ctx context.Context, f figure.Figure, g *graph.Graph, damping float64) error {
	s, err := ppr.New(g, ppr.Options{Damping: damping})
	if err != nil {
		return err
	}
	var seeds [][]ppr.Seed
	for _, set := range graphragtest.Resets(g, resets, 1) {
		var seed []ppr.Seed
		for _, u := range set {
			seed = append(seed, ppr.Seed{Node: u, Weight: 1})
		}
		seeds = append(seeds, seed)
	}
	var values []float64
	solve := func(of []ppr.Seed) (err error) { values, err = s.Solve(ctx, of, values); return err }
	if err := solve(seeds[0]); err != nil {
		return err
	}
	took, err := cpu(func() error {
		for at := 0; at < resets; at += resets / 4 {
			if err := solve(seeds[at]); err != nil {
				return err
			}
		}
		return nil
	})
	f.Show(fmt.Sprintf("PageRank, damping %v, one query, residual 1e-9", damping), 1e3*took/4, "CPU ms")
	return err
}

// window is the number of words of a text whose names are joined by edges.
const window = 75

// namesOf returns a graph of the names on the pages of WildGraphBench. A name is a sequence of capitalised
// words. Each window of 75 words adds an edge of weight 1 for each pair of different names in it. Names that
// have edges are numbered in order of appearance.
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

// join adds the edges between the names in one window.
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

// names returns the different sequences of capitalised words. Punctuation ends a sequence.
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
