// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

// settle finds the nodes of each layer in the one below. It fails if they are not there.
func (g *graph) settle() error {
	for at := 1; at < len(g.layers); at++ {
		upper, lower := &g.layers[at], &g.layers[at-1]
		upper.below = make([]int32, 0, upper.n)
		node, before := int32(0), int32(-1)
		for _, row := range upper.rows {
			for int(node) < lower.n && lower.row(node) < row {
				node++
			}
			if int(node) == lower.n || lower.row(node) != row || row <= before {
				return fmt.Errorf("layer %d of the graph has row %d, the one below has not", at, row)
			}
			upper.below, before = append(upper.below, node), row
		}
	}
	return nil
}

// write writes the number of linked rows, and of each layer its nodes and their links.
func (g *graph) write(out *codec.Writer) {
	out.Uint(uint64(g.linked))
	out.Uint(uint64(len(g.layers)))
	for at := range g.layers {
		l := &g.layers[at]
		out.Uint(uint64(l.n))
		for node := range int32(l.n) {
			if at > 0 {
				out.Uint(uint64(l.rows[node]))
			}
			for _, id := range l.of(node) {
				out.Uint(uint64(id + 1))
			}
		}
	}
}

// readGraph reads what write wrote.
func readGraph(in *codec.Reader, rows int) *graph {
	g := &graph{linked: int(in.Uint(uint64(rows)))}
	most := g.linked
	for at := range int(in.Uint(maxLayers)) {
		l := newLayer(degreeAt(at))
		n := int(in.Uint(uint64(most)))
		for node := 0; node < n && in.Err() == nil; node++ {
			row := uint64(node)
			if at > 0 {
				row = in.Uint(uint64(g.linked))
			}
			l.add(int32(row), 0, at == 0)
			own := l.of(int32(node))
			for i := range own {
				own[i] = int32(in.Uint(uint64(n))) - 1
			}
		}
		g.layers, most = append(g.layers, l), n
	}
	if in.Err() == nil && (g.linked > 0) != (len(g.layers) > 0) || len(g.layers) > 0 && g.layers[0].n != g.linked {
		in.Fail("a graph of other rows")
	}
	if in.Err() == nil {
		if err := g.settle(); err != nil {
			in.Fail("%w", err)
		}
	}
	return g
}

// graphArrays are those of a folder: the links of all rows, and those of the nodes of the
// upper layers, one layer after the other, with their rows.
type graphArrays struct{ links, upper, rows flat.Array[int32] }

func newGraphArrays(w *flat.Writer) (a graphArrays, err error) {
	if a.links, err = flat.NewArray[int32](w, "links"); err != nil {
		return a, err
	}
	if a.upper, err = flat.NewArray[int32](w, "upper-links"); err != nil {
		return a, err
	}
	a.rows, err = flat.NewArray[int32](w, "upper-rows")
	return a, err
}

// put writes a graph and returns the sizes of its upper layers.
func (a graphArrays) put(g *graph) (sizes []int) {
	for at := range g.layers {
		l, links := &g.layers[at], a.links
		if at > 0 {
			links, sizes = a.upper, append(sizes, l.n)
			a.rows.Append(l.rows...)
		}
		for node := range int32(l.n) {
			links.Append(l.of(node)...)
		}
	}
	return sizes
}

// graphIn takes the graph of a folder as it lies.
func graphIn(folder *flat.Folder, n int, sizes []int) (*graph, error) {
	var arrays [3][]int32
	for i, name := range []string{"links", "upper-links", "upper-rows"} {
		var err error
		if arrays[i], err = flat.View[int32](folder, name); err != nil {
			return nil, err
		}
	}
	links, upper, rows := arrays[0], arrays[1], arrays[2]
	wrong := fmt.Errorf("%w: its graph does not fit its rows; build it again", ErrFolder)
	if len(links) != n*graphDegree || len(upper) != len(rows)*graphLinks || len(sizes) >= maxLayers {
		return nil, wrong
	}
	g := &graph{linked: n}
	for at := 0; at <= len(sizes) && n > 0; at++ {
		l := newLayer(degreeAt(at))
		if l.n = n; at > 0 {
			if l.n = sizes[at-1]; l.n < 1 || l.n > len(rows) {
				return nil, wrong
			}
			l.rows, rows = rows[:l.n], rows[l.n:]
			links, upper = upper[:l.n*graphLinks], upper[l.n*graphLinks:]
		}
		l.links.lie(links)
		g.layers = append(g.layers, l)
	}
	if len(rows) > 0 || g.settle() != nil {
		return nil, wrong
	}
	return g, nil
}
