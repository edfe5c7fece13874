// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"slices"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// What reading and writing may wrap.
var (
	// ErrFormat says that a file is damaged, or has other columns.
	ErrFormat = errors.New("not the table that is wanted")
	// ErrValue says that a value does not fit the graph.
	ErrValue = errors.New("a value that does not fit the graph")
)

// ReadEdges reads the edges of a graph of n nodes, as graph.Build wants them: the columns
// src and dst, and weight, which is 1 where there is none.
func ReadEdges(fsys fs.FS, n int) iter.Seq2[graph.Edge, error] {
	return func(yield func(graph.Edge, error) bool) {
		stop := errors.New("enough")
		err := table(fsys, []string{"src", "dst"}, "weight", func(v values) error {
			u, err := v.node(0, n)
			if err != nil {
				return err
			}
			to, err := v.node(1, n)
			if err != nil {
				return err
			}
			weight := 1.0
			if !v[2].IsNull() {
				if weight, err = v.number(2); err != nil {
					return err
				}
			}
			if !yield(graph.Edge{From: u, To: to, Weight: weight}, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(graph.Edge{}, fmt.Errorf("parquet: read edges: %w", err))
		}
	}
}

// ReadRanks reads a number for each of n nodes, from the columns id and the one named, and
// scales them to the sum 1. Each node has one, which is finite and 0 or more.
func ReadRanks(fsys fs.FS, column string, n int) ([]float64, error) {
	ranks := make([]float64, n)
	seen, sum := nodesOf(n), 0.0
	err := table(fsys, []string{"id", column}, "", func(v values) error {
		id, err := v.node(0, n)
		if err == nil {
			err = seen.add(id)
		}
		if err == nil {
			ranks[id], err = v.number(1)
		}
		return err
	})
	if err == nil {
		err = seen.all()
	}
	for _, r := range ranks {
		sum += r
	}
	if err == nil && n > 0 && !(sum > 0 && sum <= math.MaxFloat64) {
		err = fmt.Errorf("%w: the sum of column %q is %v, want a finite one above 0", ErrValue, column, sum)
	}
	if err != nil {
		return nil, fmt.Errorf("parquet: read ranks: %w", err)
	}
	for i := range ranks {
		ranks[i] /= sum
	}
	return ranks, nil
}

// ReadCommunities reads the community of each of n nodes, from the columns id and the one
// named, which holds whole numbers: any, the same for the nodes of one. They are numbered
// from 0, the largest first, equally large ones by their smallest node, as package
// community does.
func ReadCommunities(fsys fs.FS, column string, n int) ([]int32, error) {
	given := make([]int64, n)
	seen := nodesOf(n)
	err := table(fsys, []string{"id", column}, "", func(v values) error {
		id, err := v.node(0, n)
		if err == nil {
			err = seen.add(id)
		}
		if err == nil {
			given[id], err = v.whole(1)
		}
		return err
	})
	if err == nil {
		err = seen.all()
	}
	if err != nil {
		return nil, fmt.Errorf("parquet: read communities: %w", err)
	}
	return numbered(given), nil
}

// numbered numbers communities from 0 on, the largest first, equally large ones by their
// smallest node.
func numbered(given []int64) []int32 {
	type community struct{ size, first, number int32 }
	known := make(map[int64]*community)
	var order []*community
	for i, g := range given {
		c, ok := known[g]
		if !ok {
			c = &community{first: int32(i)}
			known[g], order = c, append(order, c)
		}
		c.size++
	}
	slices.SortFunc(order, func(a, b *community) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.first, b.first))
	})
	for i, c := range order {
		c.number = int32(i)
	}
	labels := make([]int32, len(given))
	for i, g := range given {
		labels[i] = known[g].number
	}
	return labels
}

// nodes is the set of nodes that had a row.
type nodes struct {
	had     []bool
	missing int
}

func nodesOf(n int) nodes { return nodes{make([]bool, n), n} }

func (s *nodes) add(id int32) error {
	if s.had[id] {
		return fmt.Errorf("%w: node %d has two rows: read one table at a time", ErrValue, id)
	}
	s.had[id] = true
	s.missing--
	return nil
}

func (s *nodes) all() error {
	if s.missing > 0 {
		return fmt.Errorf("%w: %d nodes have no row: give the engine the table of nodes too, those without an edge are in no other", ErrValue, s.missing)
	}
	return nil
}

// table reads all files of a table in the order of their names. Take is given the values
// of the wanted columns and of one that may be missing, null then.
func table(fsys fs.FS, columns []string, optional string, take func(values) error) error {
	names, err := fs.Glob(fsys, "*.parquet")
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") })
	if len(names) == 0 {
		return fmt.Errorf("%w: there is no file NAME.parquet: name the folder that the engine wrote", ErrFormat)
	}
	for _, name := range names {
		err := file(fsys, name, columns, optional, take)
		if errors.Is(err, ErrDamaged) {
			err = fmt.Errorf("%w: %w: write it again", ErrFormat, err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func file(fsys fs.FS, name string, columns []string, optional string, take func(values) error) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	at, ok := f.(io.ReaderAt)
	if !ok {
		return fmt.Errorf("%T cannot be read at any place: use os.DirFS", f)
	}
	p, err := Open(at, info.Size())
	if err != nil {
		return err
	}
	places, err := places(p, columns, optional)
	if err != nil {
		return err
	}
	row := make(values, len(places))
	return Rows(p, func(r pq.Row) error {
		clear(row)
		for _, v := range r {
			for i, at := range places {
				if v.Column() == at {
					row[i] = v
				}
			}
		}
		return take(row)
	})
}

// places are the columns of a file that are wanted, -1 for one that may be missing.
func places(p *pq.File, columns []string, optional string) ([]int, error) {
	var there []string
	for _, path := range p.Schema().Columns() {
		name := ""
		if len(path) == 1 {
			name = path[0]
		}
		there = append(there, name)
	}
	var out []int
	for _, name := range columns {
		at := slices.Index(there, name)
		if at < 0 {
			return nil, fmt.Errorf("%w: it has the columns %q, and no %q: name them so", ErrFormat, there, name)
		}
		out = append(out, at)
	}
	if optional != "" {
		out = append(out, slices.Index(there, optional))
	}
	return out, nil
}

// values has the values of the wanted columns of a row, in order.
type values []pq.Value

func (v values) whole(i int) (int64, error) {
	switch v[i].Kind() {
	case pq.Int32:
		return int64(v[i].Int32()), nil
	case pq.Int64:
		return v[i].Int64(), nil
	}
	return 0, fmt.Errorf("%w: %v is no whole number: cast the column to bigint", ErrFormat, v[i])
}

func (v values) node(i, n int) (int32, error) {
	id, err := v.whole(i)
	if err == nil && (id < 0 || id >= int64(n) || id > math.MaxInt32) {
		err = fmt.Errorf("%w: node %d of %d: it is of another graph", ErrValue, id, n)
	}
	return int32(id), err
}

func (v values) number(i int) (float64, error) {
	var x float64
	switch v[i].Kind() {
	case pq.Float:
		x = float64(v[i].Float())
	case pq.Double:
		x = v[i].Double()
	default:
		return 0, fmt.Errorf("%w: %v is no number: cast the column to double", ErrFormat, v[i])
	}
	if !(x >= 0 && x <= math.MaxFloat64) {
		return 0, fmt.Errorf("%w: %v, want a finite number that is 0 or more", ErrValue, x)
	}
	return x, nil
}

// ErrDamaged is wrapped by the errors for files that are no Parquet files, or incomplete.
var ErrDamaged = errors.New("no Parquet file, or a damaged one")

// Open reads the footer of a file. Pages are checked when they are read.
func Open(at io.ReaderAt, size int64) (f *pq.File, err error) {
	defer caught(&err)
	if err := footer(at, size); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	f, err = pq.OpenFile(at, size, pq.SkipPageIndex(true), pq.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return f, nil
}

// caught makes an error of a panic: the library takes damaged files badly.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrDamaged, p)
	}
}

// footer checks that the length of a file's footer, of which the library makes room, can
// be: a file ends in it, its length and four bytes, and begins with four.
func footer(at io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return io.ErrUnexpectedEOF
	}
	if _, err := at.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > size-12 {
		return fmt.Errorf("a footer of %d bytes", n)
	}
	return nil
}

// Rows hands out the rows of a file, which are valid until take returns. An error of take
// ends it.
func Rows(f *pq.File, take func(pq.Row) error) (err error) {
	defer caught(&err)
	for _, g := range f.RowGroups() {
		if g.NumRows() == 0 {
			continue // its pages need not exist: pyarrow writes a dictionary alone
		}
		if err := group(g, take); err != nil {
			return err
		}
	}
	return nil
}

func group(g pq.RowGroup, take func(pq.Row) error) error {
	in := g.Rows()
	defer in.Close() // only read
	buffer := make([]pq.Row, 64)
	for {
		n, err := in.ReadRows(buffer)
		for _, row := range buffer[:n] {
			if err := take(row); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		case n == 0:
			return fmt.Errorf("%w: rows are missing", ErrDamaged)
		}
	}
}
