// SPDX-License-Identifier: Apache-2.0

package graphrag_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

// A published system over a folder of files, offline.
func Example() {
	ctx := context.Background()
	notes := fstest.MapFS{"fram.md": {Data: []byte("The Fram was built by Colin Archer in Larvik.")}} // or os.DirFS("notes")
	parts, _ := kit.Offline(kit.OfflineOptions{})
	system, _ := hipporag2.New(parts, hipporag2.Options{})
	if _, err := system.Index(ctx, load.Documents(ctx, notes)); err != nil {
		fmt.Println(err)
		return
	}
	answer, _ := system.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 5})
	fmt.Println(answer.Text)
	fmt.Println(answer.Evidence[0].Chunk.Doc)
	// Output:
	// The Fram was built by Colin Archer in Larvik.
	// fram.md
}
