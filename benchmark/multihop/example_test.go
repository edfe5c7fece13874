// SPDX-License-Identifier: Apache-2.0

package multihop_test

import (
	"fmt"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/judge/short"
)

// A data set as the runner takes it, with the judge of its questions. A folder on disk
// is os.DirFS(dir).
func Example() {
	folder := fstest.MapFS{
		"musique.json": {Data: []byte(`[{"id": "2hop__1_2", "question": "Who founded the town of the bridge?", "answer": "Ada Moss",
			"paragraphs": [{"title": "The bridge", "paragraph_text": "It stands in Elm.", "is_supporting": true},
			               {"title": "Elm", "paragraph_text": "Ada Moss founded it.", "is_supporting": true}]}]`)},
	}
	set, err := multihop.Load(folder, benchmark.LoadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	it := set.Domains[0].Items[0]
	j, err := short.New(short.Options{Schemes: multihop.Schemes()})
	fmt.Println(it.Type, it.Gold, set.Types[0].K, j.Name(), err)
	// Output: 2-hop [[000000] [000001]] 20 lexical/shortanswer/v3 <nil>
}
