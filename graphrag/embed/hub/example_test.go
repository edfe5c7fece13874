// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"fmt"
	"os"

	"github.com/wildgraph/wildgraph/graphrag/embed/hub"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
)

// A program takes the encoder that its user names; here it is a model of random numbers in a folder.
// "bge-small" would be downloaded once.
func Example() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := graphragtest.WriteBERT(dir); err != nil {
		panic(err)
	}

	ctx := context.Background()
	encoder, err := hub.Open(ctx, "file:"+dir, hub.Options{})
	if err != nil {
		panic(err) // the error says which files to put where by hand
	}
	vector, err := encoder.EmbedQuery(ctx, "Who heard a mouse?")
	fmt.Println(len(vector), err)
	// Output: 64 <nil>
}
