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

// A function reads: here it quotes the first piece of evidence. A kit takes it as its Read.
func ExampleFunc() {
	var r reader.Reader = reader.Func(func(_ context.Context, _ graphrag.Question, evidence []graphrag.Hit, _ []graphrag.Derived) (graphrag.Answer, error) {
		return graphrag.Answer{Text: evidence[0].Chunk.Text, Found: graphrag.Found{Evidence: evidence[:1]}}, nil
	})
	a, err := r.Read(context.Background(), graphrag.Question{}, []graphrag.Hit{{Chunk: graphrag.Chunk{Text: "The light is red."}}}, nil)
	fmt.Println(a.Text, err)
	// Output: The light is red. <nil>
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
	fmt.Println(a.Text, a.Citations, reader.IsRefusal("", a.Text))
	// Output:
	// model/reject/fake
	// The first crewed landing on the Moon was in July 1969. [{0 54  0 0 0}] false
}
