// SPDX-License-Identifier: Apache-2.0

package own_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

// Questions over a folder of documents, as the runner takes them. A folder on disk is
// os.DirFS(dir).
func Example() {
	docs := fstest.MapFS{"owls.md": {Data: []byte("# Owls\n\nBarn owls hunt by ear.\n")}}
	questions := `{"question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}`
	set, err := own.Load(context.Background(), "owls.jsonl", strings.NewReader(questions), docs, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	it := set.Domains[0].Items[0]
	fmt.Println(set.Name, it.Question.ID, it.Type, it.Reference, it.Gold)
	// Output: owls 1 single-fact By ear. [[owls.md]]
}
