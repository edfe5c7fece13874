// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
)

// Triples that were extracted before, here by HippoRAG, stand in for a model.
func ExampleReadOpenIE() {
	recorded, err := extract.ReadOpenIE(strings.NewReader(`{"docs": [{
		"passage": "Ada Lovelace wrote to Charles Babbage.",
		"extracted_entities": ["Ada Lovelace", "Charles Babbage"],
		"extracted_triples": [["Ada Lovelace", "wrote to", "Charles Babbage"]]}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := recorded.Extract(context.Background(), []graphrag.Chunk{{
		ID: "page#000000", Doc: "page", Text: "Ada Lovelace wrote to Charles Babbage.",
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found[0].Facts {
		fmt.Printf("%s – %s – %s\n", f.Head, f.Relation, f.Tail)
	}
	// Output:
	// Ada Lovelace – wrote to – Charles Babbage
}
