// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/embed"
)

func Example() {
	ctx := context.Background()
	passages := []string{
		"The physician examined the patient in the hospital.",
		"A doctor and a nurse treat every patient of the hospital.",
		"The ship left the harbour with its crew.",
	}
	model, err := embed.FitLSA(ctx, passages, embed.LSAOptions{Dim: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	vectors, err := model.EmbedDocuments(ctx, passages)
	if err != nil {
		fmt.Println(err)
		return
	}
	question, err := model.EmbedQuery(ctx, "Which physicians are there?")
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, v := range vectors {
		cosine := float32(0)
		for j := range v {
			cosine += v[j] * question[j]
		}
		fmt.Printf("%.2f %s\n", max(0, cosine), passages[i])
	}
	// Output:
	// 1.00 The physician examined the patient in the hospital.
	// 1.00 A doctor and a nurse treat every patient of the hospital.
	// 0.00 The ship left the harbour with its crew.
}
