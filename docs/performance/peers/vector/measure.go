//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/vector"
	"github.com/wildgraph/wildgraph/internal/display"
)

func main() { figure.Main("vector", run) }

func run(_ context.Context, args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: vector generate DATA ROWS | exact DATA ROUND")
	}
	number, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	switch args[0] {
	case "generate":
		return generate(args[1], number)
	case "exact":
		return exact(args[1], number)
	}
	return fmt.Errorf("no %q", args[0])
}

// least returns the least CPU time of some passes.
func least(passes int, do func() error) (float64, error) {
	best := 0.
	for i := range passes {
		start := figure.CPU()
		if err := do(); err != nil {
			return 0, err
		}
		if took := figure.CPU() - start; i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// recall returns the share of the ten nearest vectors that was found.
func recall(data string, found [][]rank.Scored[int32]) (float64, error) {
	truth, err := os.ReadFile(data + ".truth")
	if err != nil {
		return 0, err
	}
	hits := 0
	for q, list := range found {
		for i := range k {
			id := int32(binary.LittleEndian.Uint32(truth[4*(q*k+i):]))
			for _, f := range list {
				if f.ID == id {
					hits++
				}
			}
		}
	}
	return float64(hits) / float64(k*len(found)), nil
}

// each answers the queries one at a time.
func each(x *vector.Index, queries [][]float32, p vector.Params) ([][]rank.Scored[int32], error) {
	found := make([][]rank.Scored[int32], len(queries))
	for i, q := range queries {
		var err error
		if found[i], err = x.SearchWith(q, p, nil); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func exact(data string, round int) error {
	rows, queries, err := load(data)
	if err != nil {
		return err
	}
	f := figure.Figure{Set: display.Digits(len(rows)) + " rows", Who: figure.Us, Round: round}
	x, err := vector.New(vector.Options{Dim: dim, Cosine: true, Workers: 1})
	if err != nil {
		return err
	}
	build, err := least(1, func() error { return x.Add(rows...) })
	if err != nil {
		return err
	}
	f.Show("exact, build with codes", build, "CPU s")
	rows = nil
	some := queries[:100]
	one, err := least(3, func() error { _, err := each(x, some, vector.Params{K: k}); return err })
	if err != nil {
		return err
	}
	f.Show("one query, exact", 1e3*one/float64(len(some)), "CPU ms")
	found, err := each(x, queries, vector.Params{K: k})
	if err != nil {
		return err
	}
	share, err := recall(data, found)
	if err != nil {
		return err
	}
	f.Show("recall@10, exact", share, "")
	return nil
}
