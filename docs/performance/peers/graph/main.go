//go:build linux

// Command graph measures graphs for .ci/peers graph: see the file run.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "graph:", err)
		os.Exit(1)
	}
}

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

// edges are a graph, and what it is called.
func edges(name string) (list graphtest.List, set string, err error) {
	switch name {
	case "names":
		list, _, err = graphtest.Cooccurrence(os.DirFS(os.Getenv("WILDGRAPHBENCH_DIR")))
		return merged(list), "names that stand together on the pages", err
	case "planted":
		return graphtest.Planted(1e6, 5e6, 1000, .3, 1), "planted partition, 1,000,000 nodes", nil
	}
	return list, "", fmt.Errorf("no graph %q", name)
}

// merged has one edge for each pair, with the weight of all.
func merged(list graphtest.List) graphtest.List {
	g := list.Graph(graph.Float64)
	list.Edges = list.Edges[:0]
	for u := range int32(g.N()) {
		for at := g.Offsets()[u]; at < g.Offsets()[u+1]; at++ {
			if v := g.Targets()[at]; u <= v {
				list.Edges = append(list.Edges, graph.Edge{From: u, To: v, Weight: g.Weights64()[at]})
			}
		}
	}
	return list
}

const resets = 32

// write leaves the edges and the reset sets to the peers.
func write(data, set string, list graphtest.List) error {
	var ends, weights, sets bytes.Buffer
	for _, e := range list.Edges {
		ends.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(e.From)), uint32(e.To)))
		if err := binary.Write(&weights, binary.LittleEndian, e.Weight); err != nil {
			return err
		}
	}
	if err := json.NewEncoder(&sets).Encode(map[string]any{"set": set, "n": list.N, "resets": graphtest.Resets(list.Graph(graph.Float32), resets, 1)}); err != nil {
		return err
	}
	for name, b := range map[string]*bytes.Buffer{".edges": &ends, ".weights": &weights, ".resets": &sets} {
		if err := os.WriteFile(data+name, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// figure is one line.
type figure struct {
	Set   string  `json:"set"`
	Who   string  `json:"who"`
	Round int     `json:"round"`
	What  string  `json:"what"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
	Plain bool    `json:"plain,omitempty"`
}

func (f figure) show(what string, value float64, unit string) {
	f.What, f.Value, f.Unit, f.Plain = what, value, unit, unit == ""
	line, _ := json.Marshal(f)
	fmt.Println(string(line))
}

// cpu is the CPU time that something takes, in seconds.
func cpu(do func() error) (float64, error) {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	err := do()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	return float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()) / 1e9, err
}

func measure(ctx context.Context, set string, list graphtest.List, round int) error {
	f := figure{Set: set, Who: "wildgraph", Round: round}
	var g *graph.Graph
	took, err := cpu(func() (err error) { g, err = graph.New(list.N, list.Edges, graph.Options{}); return err })
	if err != nil {
		return err
	}
	f.show("edges into rows", took, "CPU s")
	var p community.Partition
	if took, err = cpu(func() (err error) {
		p, err = community.Leiden(ctx, g, community.Options{MaxPasses: 2, Seed: uint64(round)})
		return err
	}); err != nil {
		return err
	}
	f.show("Leiden, two passes", took, "CPU s")
	f.show("modularity", p.Quality, "")
	for _, damping := range []float64{.5, .85} {
		if err := walks(ctx, f, list.Graph(graph.Float32), damping); err != nil {
			return err
		}
	}
	return nil
}

// walks measures PageRank, a query, after one that fills the memory.
func walks(ctx context.Context, f figure, g *graph.Graph, damping float64) error {
	s, err := ppr.New(g, ppr.Options{Damping: damping, Workers: 1})
	if err != nil {
		return err
	}
	var seeds [][]ppr.Seed
	for _, set := range graphtest.Resets(g, resets, 1) {
		seeds = append(seeds, ppr.Uniform(set...))
	}
	var one []float64
	var many [][]float64
	var first []rank.Scored[int32]
	for _, way := range []struct {
		what string
		size int
		ask  func(of [][]ppr.Seed) error
	}{
		{"one query, residual 1e-9", 1, func(of [][]ppr.Seed) (err error) { one, err = s.Solve(ctx, of[0], one); return err }},
		{"16 together", 16, func(of [][]ppr.Seed) (err error) { many, err = s.SolveBatch(ctx, of, many); return err }},
		{"the first 100 alone", 1, func(of [][]ppr.Seed) (err error) { first, err = s.Top(ctx, of[0], 100, 0, first); return err }},
	} {
		if err := way.ask(seeds[:way.size]); err != nil {
			return err
		}
		took, err := cpu(func() error {
			for at := 0; at < resets; at += max(way.size, resets/4) {
				if err := way.ask(seeds[at : at+way.size]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		queries := float64(resets / max(way.size, resets/4) * way.size)
		f.show(fmt.Sprintf("PageRank, damping %v, %s", damping, way.what), 1e3*took/queries, "CPU ms")
	}
	share, err := overlap(ctx, s, seeds)
	f.show(fmt.Sprintf("of the first 100, in the exact ones, damping %v", damping), share, "")
	return err
}

// overlap is the share of the exact first hundred that rankings have.
func overlap(ctx context.Context, s *ppr.Solver, seeds [][]ppr.Seed) (float64, error) {
	const first = 100
	exact, err := s.SolveBatch(ctx, seeds, nil)
	if err != nil {
		return 0, err
	}
	hits := 0
	for i, values := range exact {
		order := make([]int32, len(values))
		for u := range order {
			order[u] = int32(u)
		}
		slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b)) })
		top, err := s.Top(ctx, seeds[i], first, 0, nil)
		if err != nil {
			return 0, err
		}
		for _, t := range top {
			if slices.Contains(order[:first], t.ID) {
				hits++
			}
		}
	}
	return float64(hits) / float64(first*len(seeds)), nil
}
