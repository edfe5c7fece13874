// SPDX-License-Identifier: Apache-2.0

package parquet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
	"github.com/wildgraph/wildgraph/graphrag/graph/parquet"
)

// folder is one with a file of rows, cut into parts.
func folder[T any](t *testing.T, parts ...[]T) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{"_SUCCESS": {}, ".part.parquet.crc": {}}
	for i, rows := range parts {
		var b bytes.Buffer
		if err := pq.Write(&b, rows); err != nil {
			t.Fatal(err)
		}
		out[fmt.Sprintf("part-%05d.parquet", i)] = &fstest.MapFile{Data: b.Bytes()}
	}
	return out
}

type ranked struct {
	ID   int64   `parquet:"id"`
	Rank float64 `parquet:"pagerank"`
}

type grouped struct {
	ID    int64 `parquet:"id"`
	Label int64 `parquet:"label"`
}

func TestEdgesThereAndBack(t *testing.T) {
	want := graphtest.Planted(500, 3000, 5, .8, 1).Graph(graph.Float64)
	var b bytes.Buffer
	if err := parquet.WriteEdges(&b, parquet.EdgesOf(want)); err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{"edges.parquet": {Data: b.Bytes()}}
	got, err := graph.Build(want.N(), parquet.ReadEdges(fsys, want.N()), graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Offsets(), want.Offsets()) || !slices.Equal(got.Targets(), want.Targets()) {
		t.Error("the graph is another one")
	}
	for arc := range want.Arcs() {
		if got.Weight(arc) != want.Weight(arc) {
			t.Fatalf("arc %d has the weight %v, want %v", arc, got.Weight(arc), want.Weight(arc))
		}
	}
	for range parquet.ReadEdges(fsys, want.N()) {
		break // who has enough may stop
	}
}

// A table is written as it comes: more rows than a row group, and nodes beyond 32 bits.
func TestEdgesOfAnySize(t *testing.T) {
	const rows = parquet.GroupRows + 10
	var b bytes.Buffer
	err := parquet.WriteEdges(&b, func(yield func(parquet.Edge, error) bool) {
		for i := range int64(rows) {
			if !yield(parquet.Edge{From: i, To: 1<<40 + i, Weight: 1}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := pq.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if f.NumRows() != rows || len(f.RowGroups()) != 2 {
		t.Errorf("%d rows in %d groups", f.NumRows(), len(f.RowGroups()))
	}
	_, err = graph.Build(10, parquet.ReadEdges(fstest.MapFS{"e.parquet": {Data: b.Bytes()}}, 10), graph.Options{})
	if !errors.Is(err, parquet.ErrValue) || !strings.Contains(err.Error(), "e.parquet") {
		t.Errorf("a node beyond the graph: %v", err)
	}
}

func TestNodes(t *testing.T) {
	var b bytes.Buffer
	err := parquet.WriteNodes(&b, func(yield func(string, error) bool) { _ = yield("Ada", nil) && yield("", nil) && yield("Łódź", nil) })
	if err != nil {
		t.Fatal(err)
	}
	got, err := pq.Read[struct {
		ID    int64  `parquet:"id"`
		Label string `parquet:"label"`
	}](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(got) != 3 || got[2].ID != 2 || got[2].Label != "Łódź" {
		t.Errorf("%v, %v", got, err)
	}
}

// What cannot be written is an error of its own.
func TestBadEdges(t *testing.T) {
	broken := errors.New("the source broke")
	for what, edges := range map[string]iter.Seq2[parquet.Edge, error]{
		"a negative node": one(parquet.Edge{From: -1}), "a negative weight": one(parquet.Edge{Weight: -1}),
		"no weight": one(parquet.Edge{Weight: math.NaN()}), "an infinite weight": one(parquet.Edge{Weight: math.Inf(1)}),
	} {
		if err := parquet.WriteEdges(&bytes.Buffer{}, edges); !errors.Is(err, parquet.ErrValue) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := parquet.WriteEdges(&bytes.Buffer{}, func(yield func(parquet.Edge, error) bool) { yield(parquet.Edge{}, broken) }); !errors.Is(err, broken) {
		t.Errorf("a source that breaks: %v", err)
	}
	if err := parquet.WriteEdges(full{}, parquet.EdgesOf(graphtest.Karate().Graph(graph.Float64))); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}

func one(e parquet.Edge) iter.Seq2[parquet.Edge, error] {
	return func(yield func(parquet.Edge, error) bool) { yield(e, nil) }
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestRanks(t *testing.T) {
	got, err := parquet.ReadRanks(folder(t, []ranked{{2, 1}, {0, 4}}, nil, []ranked{{1, 3}}), "pagerank", 3)
	if err != nil || !slices.Equal(got, []float64{.5, .375, .125}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCommunities(t *testing.T) {
	got, err := parquet.ReadCommunities(folder(t, []grouped{{4, 1 << 40}, {0, 9}}, []grouped{{1, -7}, {3, -7}, {2, 1 << 40}}), "label", 5)
	if err != nil || !slices.Equal(got, []int32{2, 0, 1, 0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}

// What is no such table, and what is of another graph, is told.
func TestHostile(t *testing.T) {
	good := folder(t, []ranked{{0, 1}, {1, 2}})
	whole := good["part-00000.parquet"].Data
	ranks := func(fsys fs.FS) error { _, err := parquet.ReadRanks(fsys, "pagerank", 2); return err }
	labels := func(fsys fs.FS) error { _, err := parquet.ReadCommunities(fsys, "label", 2); return err }
	for _, x := range []struct {
		what string
		read func(fs.FS) error
		fsys fs.FS
		want error
	}{
		{"an empty folder", ranks, fstest.MapFS{}, parquet.ErrFormat},
		{"no table", ranks, fstest.MapFS{"x.parquet": {Data: []byte("id,pagerank\n0,1\n")}}, parquet.ErrFormat},
		{"an empty file", ranks, fstest.MapFS{"x.parquet": {}}, parquet.ErrFormat},
		{"other columns", labels, good, parquet.ErrFormat},
		{"ids that are texts", ranks, folder(t, []struct {
			ID   string  `parquet:"id"`
			Rank float64 `parquet:"pagerank"`
		}{{"0", 1}}), parquet.ErrFormat},
		{"ranks that are texts", ranks, folder(t, []struct {
			ID   int64  `parquet:"id"`
			Rank string `parquet:"pagerank"`
		}{{0, "1"}}), parquet.ErrFormat},
		{"a rank that is missing", ranks, folder(t, []struct {
			ID   int64    `parquet:"id"`
			Rank *float64 `parquet:"pagerank"`
		}{{0, nil}}), parquet.ErrFormat},
		{"a community that is a fraction", labels, folder(t, []struct {
			ID    int64   `parquet:"id"`
			Label float64 `parquet:"label"`
		}{{0, .5}}), parquet.ErrFormat},
		{"a node of another graph", ranks, folder(t, []ranked{{0, 1}, {2, 1}}), parquet.ErrValue},
		{"a negative node", ranks, folder(t, []ranked{{0, 1}, {-1, 1}}), parquet.ErrValue},
		{"a node beyond 32 bits", ranks, folder(t, []ranked{{0, 1}, {1 << 32, 1}}), parquet.ErrValue},
		{"a node twice", ranks, folder(t, []ranked{{0, 1}, {0, 1}}), parquet.ErrValue},
		{"a node that is missing", ranks, folder(t, []ranked{{0, 1}}), parquet.ErrValue},
		{"a rank that is no number", ranks, folder(t, []ranked{{0, 1}, {1, math.NaN()}}), parquet.ErrValue},
		{"a negative rank", ranks, folder(t, []ranked{{0, 1}, {1, -1}}), parquet.ErrValue},
		{"an infinite rank", ranks, folder(t, []ranked{{0, 1}, {1, math.Inf(1)}}), parquet.ErrValue},
		{"ranks of 0", ranks, folder(t, []ranked{{0, 0}, {1, 0}}), parquet.ErrValue},
		{"ranks that are too large together", ranks, folder(t, []ranked{{0, math.MaxFloat64}, {1, math.MaxFloat64}}), parquet.ErrValue},
	} {
		if err := x.read(x.fsys); !errors.Is(err, x.want) {
			t.Errorf("%s: %v", x.what, err)
		}
	}
	for n := range whole {
		if err := ranks(fstest.MapFS{"x.parquet": {Data: whole[:n]}}); !errors.Is(err, parquet.ErrFormat) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// Whatever is changed in a file: an error, or ranks.
func TestDamaged(t *testing.T) {
	whole := folder(t, []ranked{{0, 1}, {1, 2}, {2, 3}})["part-00000.parquet"].Data
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		data := bytes.Clone(whole)
		for range 1 + r.IntN(3) {
			data[r.IntN(len(data))] = byte(r.Uint32())
		}
		ranks, err := parquet.ReadRanks(fstest.MapFS{"x.parquet": {Data: data}}, "pagerank", 3)
		if err != nil && !errors.Is(err, parquet.ErrFormat) && !errors.Is(err, parquet.ErrValue) {
			t.Fatalf("%v", err)
		}
		if err == nil && len(ranks) != 3 {
			t.Fatalf("%v", ranks)
		}
	}
}

// A table of no rows as pyarrow writes it has a row group whose columns have a dictionary
// and no page of data.
func TestEmptyGroup(t *testing.T) {
	var b bytes.Buffer
	w := pq.NewGenericWriter[struct {
		Src int64 `parquet:"src,dict"`
	}](&b)
	if _, err := w.Write(make([]struct {
		Src int64 `parquet:"src,dict"`
	}, 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	meta := f.Metadata()
	meta.NumRows = 0
	g := &meta.RowGroups[0]
	g.NumRows = 0
	g.Columns[0].MetaData.NumValues = 0
	g.Columns[0].MetaData.DataPageOffset = -1
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), *meta)
	if err != nil {
		t.Fatal(err)
	}
	data := append([]byte("PAR1"), make([]byte, 64)...)
	data = append(data, footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	data = append(data, "PAR1"...)
	f, err = parquet.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := parquet.Rows(f, func(pq.Row) error { t.Error("a row"); return nil }); err != nil {
		t.Error(err)
	}
}
