// SPDX-License-Identifier: Apache-2.0

package reader_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
)

func ExampleExtractive() {
	r, err := reader.Extractive(reader.ExtractiveOptions{FactSentences: 1})
	if err != nil {
		log.Fatal(err)
	}
	body := "The Moon is Earth's only natural satellite. The first crewed landing there was in July 1969."
	evidence := []graphrag.Hit{{Chunk: graphrag.Chunk{ID: "moon#000000", Doc: "moon", Text: body, End: len(body)}}}
	q := graphrag.Question{Text: "When was the first crewed landing?", Form: graphrag.Sentence}
	a, err := r.Read(context.Background(), q, evidence, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Text)
	c := a.Citations[0]
	fmt.Println(evidence[c.Evidence].Chunk.Doc, c.SourceStart, c.SourceEnd)
	// Output:
	// The first crewed landing there was in July 1969.
	// moon 44 92
}

func ExampleByModel() {
	model := &fake{reply: "The first crewed landing on the Moon was in July 1969 [1]."}
	r, err := reader.ByModel(reader.ModelOptions{Model: model, Mode: reader.Reject})
	if err != nil {
		log.Fatal(err)
	}
	body := "The first crewed landing there was in July 1969."
	evidence := []graphrag.Hit{{Chunk: graphrag.Chunk{ID: "moon#000000", Doc: "moon", Text: body, End: len(body)}}}
	a, err := r.Read(context.Background(), graphrag.Question{Text: "When was it?"}, evidence, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Name())
	fmt.Println(a.Text, a.Citations, reader.IsRefusal(a.Text))
	// Output:
	// model/reject/fake
	// The first crewed landing on the Moon was in July 1969. [{0 54  0 0 0}] false
}
