// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
)

// A model is opened by its folder; here it is one of random numbers.
func Example() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := embedtest.WriteBERT(dir); err != nil {
		fmt.Println(err)
		return
	}

	model, err := local.Open(dir, local.Options{})
	if err != nil {
		fmt.Println(err) // names the file, and what to do about it
		return
	}
	ctx := context.Background()
	passages, err := model.EmbedDocuments(ctx, []string{"The barn owl hears a mouse.", "A quick brown fox!"})
	if err != nil {
		fmt.Println(err)
		return
	}
	question, err := model.EmbedQuery(ctx, "the BARN owl hears a mouse.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Dim(), passages[0][0] == question[0], passages[1][0] == question[0])
	// Output: 64 true false
}

func ExampleReranker() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	// In place of a cross-encoder that was trained, a small one of random numbers.
	if err := embedtest.WriteHead(dir, "BertForSequenceClassification", "relevant"); err != nil {
		log.Fatal(err)
	}
	reranker, err := local.OpenReranker(dir, local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	passages := []string{"The barn owl hears a mouse.", "A quick brown fox."}
	scores, err := reranker.Scores(context.Background(), "What hears a mouse?", passages)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(scores), "scores, to be put in order by retrieve.Rerank")
	// Output: 2 scores, to be put in order by retrieve.Rerank
}
