// SPDX-License-Identifier: Apache-2.0

package chunk_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Documents come as a sequence, and chunks are returned in its order.
func Example() {
	splitter, err := chunk.Tokens(chunk.TokenOptions{Size: 8, Overlap: 2})
	if err != nil {
		log.Fatal(err)
	}
	chunker, err := chunk.New(chunk.Options{Splitter: splitter, Clean: text.StripLinks})
	if err != nil {
		log.Fatal(err)
	}
	docs := graphrag.Documents(graphrag.Document{ID: "moon.txt", Text: "The [Moon](https://a.org/Moon) is Earth's only natural satellite. It is small."})
	chunks, err := chunker.All(context.Background(), docs)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range chunks {
		fmt.Printf("%s %d–%d %q\n", c.ID, c.Start, c.End, c.Text)
	}
	// Output:
	// moon.txt#000000 0–64 "The Moon is Earth's only natural satellite"
	// moon.txt#000001 46–78 " natural satellite. It is small."
}

func ExampleSentences() {
	splitter, err := chunk.Sentences(chunk.SentenceOptions{MaxTokens: 16})
	if err != nil {
		log.Fatal(err)
	}
	s := "Dr. Smith came. He saw that it was late. Nobody else had come, so he left again."
	spans, err := splitter.Split(context.Background(), s)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range spans {
		fmt.Printf("%d %q\n", p.Tokens, s[p.Start:p.End])
	}
	// Output:
	// 12 "Dr. Smith came. He saw that it was late. "
	// 10 "Nobody else had come, so he left again."
}
