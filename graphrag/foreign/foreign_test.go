// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/foreign"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/internal/check"
)

var _ extract.Extractor = (*foreign.Index)(nil)

func TestGraphRAG(t *testing.T) {
	fsys := output(t)
	x := check.Of(foreign.ReadGraphRAG(fsys)).OK(t)
	archer := kg.Mention{Name: "COLIN ARCHER", Type: "PERSON", Description: "A builder of ships, born in Larvik."}
	born := kg.Fact{Triple: graphrag.Triple{Head: "COLIN ARCHER", Tail: "LARVIK"}, Description: "He was born there.", Weight: 3}
	want := []kg.Extraction{
		{Chunk: "u1", Doc: "u1", Mentions: []kg.Mention{archer, {Name: "FRAM"}}, Facts: []kg.Fact{{Triple: graphrag.Triple{Head: "COLIN ARCHER", Tail: "FRAM"}, Description: "He built her.", Weight: 8}, born}},
		{Chunk: "u2", Doc: "u2", Mentions: []kg.Mention{archer, {Name: "LARVIK", Type: "GEO", Description: "A town."}}, Facts: []kg.Fact{born}},
	}
	check.Equal(t, slices.Collect(x.Extractions()), want, "(-want +got)")
	units := []graphrag.Document{
		{ID: "u1", Title: "fram.txt", Source: "d1", Text: "Colin Archer built the Fram."},
		{ID: "u2", Title: "larvik.txt", Source: "d2", Text: "Colin Archer was born in Larvik."},
	}
	check.Equal(t, x.Units, units, "(-want +got)")
	check.Equal(t, x.Notes, []string{"left out, being of nothing that is there: 1 entities"})

	// Files of versions before 1 have a prefix in their names; the documents may be missing.
	old := fstest.MapFS{}
	for name, f := range fsys {
		if name != "documents.parquet" {
			old["create_final_"+name] = f
		}
	}
	y, err := foreign.ReadGraphRAG(old)
	check.True(t, err == nil && y.Units[0].Title == "" && cmp.Equal(slices.Collect(y.Extractions()), want), "of version 0.3: %+v, %v", y, err)
}

func TestLightRAG(t *testing.T) {
	x := check.Of(foreign.ReadLightRAG(folder())).OK(t)
	archer := func(said string) kg.Mention {
		return kg.Mention{Name: "Colin Archer", Type: "person", Description: said}
	}
	want := []kg.Extraction{
		{Chunk: "chunk-1", Doc: "chunk-1", Mentions: []kg.Mention{archer("A builder."), {Name: "Fram", Type: "artifact", Description: "A ship."}},
			Facts: []kg.Fact{{Triple: graphrag.Triple{Head: "Colin Archer", Tail: "Fram"}, Description: "He built her.", Keywords: []string{"building", "ships"}, Weight: 2}}},
		{Chunk: "chunk-2", Doc: "chunk-2", Mentions: []kg.Mention{archer("Born in Larvik & known.")}},
	}
	check.Equal(t, slices.Collect(x.Extractions()), want, "(-want +got)")
	u := x.Units[0]
	check.True(t, u.Title == "fram.txt" && u.Source == "doc-1" && x.Units[1].Title == "", "%+v", x.Units)
	check.Equal(t, x.Notes, []string{"left out, being of nothing that is there: 1 relations"})
}

// The extractions of a unit are returned with its first chunk, and a unit without a chunk has none.
func TestExtract(t *testing.T) {
	x := check.Of(foreign.ReadLightRAG(folder())).OK(t)
	got, err := x.Extract(t.Context(), []graphrag.Chunk{{ID: "chunk-1#0", Doc: "chunk-1"}, {ID: "chunk-1#1", Doc: "chunk-1", Index: 1}})
	check.True(t, err == nil && got[0].Chunk == "chunk-1#0" && len(got[0].Mentions) == 2 &&
		len(got[1].Mentions) == 0 && got[1].Chunk == "chunk-1#1", "%+v, %v", got, err)
	_, err = x.Extract(t.Context(), []graphrag.Chunk{{ID: "other#0", Doc: "other"}})
	check.Fails(t, err, "index its Documents", "of another corpus")
}

func TestErrors(t *testing.T) {
	for name, damage := range map[string]func(fstest.MapFS){
		"the file text_units.parquet is missing": func(f fstest.MapFS) { delete(f, "text_units.parquet") },
		"entities.parquet":                       func(f fstest.MapFS) { f["entities.parquet"] = &fstest.MapFile{Data: []byte("PAR1 no PAR1")} },
		"relationships.parquet":                  func(f fstest.MapFS) { f["relationships.parquet"].Data = f["relationships.parquet"].Data[:100] },
		"has no text unit":                       func(f fstest.MapFS) { f["text_units.parquet"] = parquetFile[unitRow](t) },
		`is empty or repeated`:                   func(f fstest.MapFS) { f["text_units.parquet"] = parquetFile(t, unitRow{ID: "u"}, unitRow{ID: "u"}) },
		"the footer claims 3735928559 bytes": func(f fstest.MapFS) {
			data := f["entities.parquet"].Data
			copy(data[len(data)-8:], "\xef\xbe\xad\xde")
		},
		"entities.parquet is not a file": func(f fstest.MapFS) { f["entities.parquet"] = &fstest.MapFile{Mode: fs.ModeDir} },
	} {
		fsys := output(t)
		damage(fsys)
		_, err := foreign.ReadGraphRAG(fsys)
		check.True(t, errors.Is(err, foreign.ErrFormat) && strings.Contains(err.Error(), name), "%s: %v", name, err)
	}
	for name, damage := range map[string]func(fstest.MapFS){
		"kv_store_text_chunks.json":           func(f fstest.MapFS) { delete(f, "kv_store_text_chunks.json") },
		"graph_chunk_entity_relation.graphml": func(f fstest.MapFS) { delete(f, "graph_chunk_entity_relation.graphml") },
		"unexpected EOF":                      func(f fstest.MapFS) { f["graph_chunk_entity_relation.graphml"].Data = []byte(graphML[:900]) },
		"EOF":                                 func(f fstest.MapFS) { f["graph_chunk_entity_relation.graphml"].Data = nil },
		"an edge without a source": func(f fstest.MapFS) {
			f["graph_chunk_entity_relation.graphml"].Data = []byte(strings.Replace(graphML, `source="Fram"`, "", 1))
		},
		"invalid character": func(f fstest.MapFS) { f["kv_store_text_chunks.json"].Data = []byte("no JSON") },
		"text follows the JSON value": func(f fstest.MapFS) {
			f["kv_store_text_chunks.json"].Data = append(f["kv_store_text_chunks.json"].Data, "{}"...)
		},
	} {
		fsys := folder()
		damage(fsys)
		_, err := foreign.ReadLightRAG(fsys)
		check.True(t, errors.Is(err, foreign.ErrFormat) && strings.Contains(err.Error(), name), "%s: %v", name, err)
	}
}

// Any bytes of a Parquet file are read or refused.
func FuzzParquet(f *testing.F) {
	good := output(f)
	f.Add(good["entities.parquet"].Data)
	f.Add(bytes.Replace(good["entities.parquet"].Data, []byte("u1"), []byte("\xff\x00"), -1))
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := maps.Clone(good)
		fsys["entities.parquet"] = &fstest.MapFile{Data: data}
		x, err := foreign.ReadGraphRAG(fsys)
		check.True(t, err != nil || len(x.Units) == 2, "units are lost")
	})
}

// Any bytes of a GraphML file are read or refused.
func FuzzGraphML(f *testing.F) {
	f.Add([]byte(graphML))
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := folder()
		fsys["graph_chunk_entity_relation.graphml"] = &fstest.MapFile{Data: data}
		x, err := foreign.ReadLightRAG(fsys)
		check.True(t, err != nil || len(x.Units) == 2, "units are lost")
	})
}

// The tables of GraphRAG, with the columns that are read and some that are not.
type (
	documentRow struct {
		ID    string `parquet:"id"`
		Human int64  `parquet:"human_readable_id"`
		Title string `parquet:"title,optional"`
	}
	unitRow struct {
		ID     string   `parquet:"id"`
		Text   string   `parquet:"text"`
		Tokens int64    `parquet:"n_tokens"`
		Docs   []string `parquet:"document_ids,list"`
	}
	entityRow struct {
		ID          string   `parquet:"id"`
		Title       string   `parquet:"title"`
		Type        string   `parquet:"type,optional"`
		Description string   `parquet:"description,optional"`
		Units       []string `parquet:"text_unit_ids,list"`
		Degree      int64    `parquet:"degree"`
	}
	relationRow struct {
		Source      string   `parquet:"source"`
		Target      string   `parquet:"target"`
		Description string   `parquet:"description"`
		Weight      float64  `parquet:"weight"`
		Units       []string `parquet:"text_unit_ids,list"`
	}
)

func parquetFile[T any](t testing.TB, rows ...T) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.Compression(&parquet.Snappy)) // compressed as pandas writes it
	check.OK(t, check.Err(w.Write(rows)))
	check.OK(t, w.Close())
	return &fstest.MapFile{Data: b.Bytes()}
}

// output returns a small output folder of GraphRAG.
func output(t testing.TB) fstest.MapFS {
	return fstest.MapFS{
		"documents.parquet": parquetFile(t, documentRow{"d1", 0, "fram.txt"}, documentRow{"d2", 1, "larvik.txt"}),
		"text_units.parquet": parquetFile(t,
			unitRow{"u2", "Colin Archer was born in Larvik.", 7, []string{"d2"}},
			unitRow{"u1", "Colin Archer built the Fram.", 6, []string{"d1"}}),
		"entities.parquet": parquetFile(t,
			entityRow{"e1", "COLIN ARCHER", "PERSON", "A builder of ships, born in Larvik.", []string{"u1", "u2"}, 2},
			entityRow{"e2", "FRAM", "", "", []string{"u1"}, 1},
			entityRow{"e3", "LARVIK", "GEO", "A town.", []string{"u2"}, 1},
			entityRow{"e4", "NOBODY", "PERSON", "Of a unit that is gone.", []string{"u9"}, 0}),
		"relationships.parquet": parquetFile(t,
			relationRow{"COLIN ARCHER", "FRAM", "He built her.", 8, []string{"u1"}},
			relationRow{"COLIN ARCHER", "LARVIK", "He was born there.", 6, []string{"u1", "u2"}}),
	}
}

//go:embed testdata/graph.graphml
var graphML string

// folder returns a small working folder of LightRAG.
func folder() fstest.MapFS {
	return fstest.MapFS{
		"graph_chunk_entity_relation.graphml": {Data: []byte(graphML)},
		"kv_store_text_chunks.json": {Data: []byte(`{
			"chunk-2": {"tokens": 7, "content": "Colin Archer was born in Larvik.", "chunk_order_index": 0, "full_doc_id": "doc-2", "file_path": "unknown_source"},
			"chunk-1": {"tokens": 6, "content": "Colin Archer built the Fram.", "chunk_order_index": 0, "full_doc_id": "doc-1", "file_path": "fram.txt", "llm_cache_list": []}}`)},
	}
}

// LightRAG's extractions as a graph. For a folder on disk use os.DirFS(dir).
func Example() {
	x, err := foreign.ReadLightRAG(folder())
	if err != nil {
		fmt.Println(err)
		return
	}
	base, _ := kg.NewBase(kg.Options{})
	for e := range x.Extractions() {
		if err := base.Insert(e); err != nil {
			fmt.Println(err)
		}
	}
	g, _ := base.Graph(context.Background())
	for _, e := range g.Entities {
		fmt.Println(e.Name, "·", e.Type)
	}
	// Output:
	// Colin Archer · person
	// Fram · artifact
}
