// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"bytes"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"
)

// The tables of GraphRAG, with the columns that matter and some that do not.
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
	communityRow struct {
		Community int64    `parquet:"community"`
		Level     int64    `parquet:"level"`
		Title     string   `parquet:"title"`
		Entities  []string `parquet:"entity_ids,list"`
	}
	reportRow struct {
		Community int64   `parquet:"community"`
		Title     string  `parquet:"title"`
		Summary   string  `parquet:"summary"`
		Full      string  `parquet:"full_content"`
		Rank      float64 `parquet:"rank"`
		Findings  []struct {
			Summary string `parquet:"summary"`
		} `parquet:"findings,list"`
	}
)

func parquetFile[T any](t testing.TB, rows ...T) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.Compression(&parquet.Snappy)) // as pandas writes
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

// output is a small output folder of GraphRAG.
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
		"communities.parquet": parquetFile(t, communityRow{1, 1, "Community 1", []string{"e2"}}, communityRow{0, 0, "Community 0", []string{"e3", "e1", "e2"}}),
		"community_reports.parquet": parquetFile(t, reportRow{Community: 0, Title: "A builder", Summary: "Ships.", Full: "# A builder\n\nShips.", Rank: 7.5},
			reportRow{Community: 5, Title: "Of nothing"}),
	}
}

const graphML = `<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="entity_id" attr.type="string"/>
<key id="d1" for="node" attr.name="entity_type" attr.type="string"/>
<key id="d2" for="node" attr.name="description" attr.type="string"/>
<key id="d3" for="node" attr.name="source_id" attr.type="string"/>
<key id="d7" for="edge" attr.name="weight" attr.type="double"/>
<key id="d8" for="edge" attr.name="description" attr.type="string"/>
<key id="d9" for="edge" attr.name="keywords" attr.type="string"/>
<key id="d10" for="edge" attr.name="source_id" attr.type="string"/>
<graph edgedefault="undirected">
<node id="Colin Archer"><data key="d0">Colin Archer</data><data key="d1">person</data><data key="d2">A builder.&lt;SEP&gt;Born in Larvik &amp; known.</data><data key="d3">chunk-1&lt;SEP&gt;chunk-2</data></node>
<node id="Fram"><data key="d1">artifact</data><data key="d2">A ship.</data><data key="d3">chunk-1</data></node>
<edge source="Colin Archer" target="Fram"><data key="d7">2.0</data><data key="d8">He built her.</data><data key="d9">building, ships&lt;SEP&gt;building</data><data key="d10">chunk-1</data></edge>
<edge source="Fram" target="Nowhere"><data key="d7">1.0</data><data key="d8">Lost.</data><data key="d10">chunk-9</data></edge>
</graph></graphml>`

// folder is a small working folder of LightRAG.
func folder() fstest.MapFS {
	return fstest.MapFS{
		"graph_chunk_entity_relation.graphml": {Data: []byte(graphML)},
		"kv_store_text_chunks.json": {Data: []byte(`{
			"chunk-2": {"tokens": 7, "content": "Colin Archer was born in Larvik.", "chunk_order_index": 0, "full_doc_id": "doc-2", "file_path": "unknown_source"},
			"chunk-1": {"tokens": 6, "content": "Colin Archer built the Fram.", "chunk_order_index": 0, "full_doc_id": "doc-1", "file_path": "fram.txt", "llm_cache_list": []}}`)},
	}
}
