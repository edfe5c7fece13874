// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"fmt"
	"io"
	"iter"
	"math"

	pq "github.com/parquet-go/parquet-go"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// GroupRows is the number of rows of a row group, which a writer holds in memory.
const GroupRows = 1 << 18

// Edge is an edge of a graph of any size: nodes are 0 to 2^63-1.
type Edge struct {
	From   int64   `parquet:"src"`
	To     int64   `parquet:"dst"`
	Weight float64 `parquet:"weight"`
}

type node struct {
	ID    int64  `parquet:"id"`
	Label string `parquet:"label"`
}

// EdgesOf are the edges of a graph, each once, in the order of their smaller ends.
func EdgesOf(g *graph.Graph) iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		for u := range int32(g.N()) {
			lo, hi := g.Row(u)
			for arc := lo; arc < hi; arc++ {
				v := g.Targets()[arc]
				if v >= u && !yield(Edge{int64(u), int64(v), g.Weight(arc)}, nil) {
					return
				}
			}
		}
	}
}

// WriteEdges writes a table of edges. An edge with a negative node, or a weight that is
// negative or not finite, is ErrValue; an error among the edges ends it. What was written
// by then is no table.
func WriteEdges(w io.Writer, edges iter.Seq2[Edge, error]) error {
	return write(w, "edges", func(yield func(Edge, error) bool) {
		for e, err := range edges {
			if err == nil && (e.From < 0 || e.To < 0 || !(e.Weight >= 0) || math.IsInf(e.Weight, 1)) {
				err = fmt.Errorf("%w: an edge from %d to %d of weight %v: nodes are 0 or more, weights finite and 0 or more", ErrValue, e.From, e.To, e.Weight)
			}
			if !yield(e, err) {
				return
			}
		}
	})
}

// WriteNodes writes a table of nodes: their labels, in the order of their numbers from 0.
func WriteNodes(w io.Writer, labels iter.Seq2[string, error]) error {
	return write(w, "nodes", func(yield func(node, error) bool) {
		n := int64(0)
		for label, err := range labels {
			if !yield(node{n, label}, err) {
				return
			}
			n++
		}
	})
}

func write[T any](w io.Writer, what string, rows iter.Seq2[T, error]) error {
	out := pq.NewGenericWriter[T](w, pq.Compression(&pq.Snappy), pq.MaxRowsPerRowGroup(GroupRows))
	buffer := make([]T, 0, 1024)
	flush := func() error {
		_, err := out.Write(buffer)
		buffer = buffer[:0]
		return err
	}
	for row, err := range rows {
		if err == nil {
			if buffer = append(buffer, row); len(buffer) < cap(buffer) {
				continue
			}
			err = flush()
		}
		if err != nil {
			return fmt.Errorf("parquet: write %s: %w", what, err)
		}
	}
	err := flush()
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("parquet: write %s: %w", what, err)
	}
	return nil
}
