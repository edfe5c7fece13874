// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/foreign"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// A finished index of LightRAG is asked by another recipe's search, without a model.
func Example_foreign() {
	ctx := context.Background()
	folder := fstest.MapFS{ // os.DirFS("rag_storage") on disk
		"kv_store_text_chunks.json": {Data: []byte(`{
			"chunk-1": {"content": "Colin Archer built the Fram for Fridtjof Nansen.", "file_path": "fram.txt"},
			"chunk-2": {"content": "Larvik is a town in the south of Norway.", "file_path": "larvik.txt"}}`)},
		"graph_chunk_entity_relation.graphml": {Data: []byte(`<graphml>
			<key id="d0" for="node" attr.name="description"/><key id="d1" for="node" attr.name="source_id"/>
			<key id="d2" for="edge" attr.name="description"/><key id="d3" for="edge" attr.name="source_id"/>
			<graph>
			<node id="Colin Archer"><data key="d0">A builder of ships from Larvik.</data><data key="d1">chunk-1</data></node>
			<node id="Larvik"><data key="d0">A town in Norway.</data><data key="d1">chunk-2</data></node>
			<edge source="Colin Archer" target="Larvik"><data key="d2">Colin Archer was born in Larvik.</data><data key="d3">chunk-2</data></edge>
			</graph></graphml>`)},
	}
	index, err := foreign.ReadLightRAG(folder)
	if err != nil {
		panic(err)
	}
	parts, _ := kit.Offline(kit.OfflineOptions{})
	system, err := lightrag.New(parts, lightrag.Options{Mode: lightrag.Mix, Extract: index, Cosine: lightrag.NoCosine})
	if err != nil {
		panic(err)
	}
	if _, err := system.Index(ctx, index.Documents()); err != nil {
		panic(err)
	}
	found, err := system.Retrieve(ctx, graphrag.Question{Text: "Where was Colin Archer born?", K: 2})
	if err != nil {
		panic(err)
	}
	for _, d := range found.Derived {
		fmt.Println(d.Text)
	}
	for _, hit := range found.Read(graphrag.Question{K: 2}) {
		fmt.Println(hit.Chunk.Title)
	}
	// Output:
	// Colin Archer: A builder of ships from Larvik.
	// Larvik: A town in Norway.
	// Colin Archer – Larvik: Colin Archer was born in Larvik.
	// fram.txt
	// larvik.txt
}
