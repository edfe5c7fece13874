// SPDX-License-Identifier: Apache-2.0

package gear_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// A graph from elsewhere leads from the film to its director, and to a page that the
// question shares no word with.
func Example() {
	ctx := context.Background()
	graph, err := triples.New(ctx, triples.TSV("wikidata.tsv", strings.NewReader(
		"Laughter in Hell\tdirector\tEdward Cahn\nEdward Cahn\tresidence\tHollywood\nOslo\tin\tNorway")).All(), triples.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	offline, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	system, err := gear.New(offline, gear.Options{Graph: graph, Expand: gear.ExpandAlways, Steps: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := system.Index(ctx, graphrag.Documents(films...)); err != nil {
		fmt.Println(err)
		return
	}
	found, err := system.Retrieve(ctx, graphrag.Question{Text: "Where did the director of Laughter in Hell live?", K: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hit := range found.Ranked {
		fmt.Println(hit.Chunk.Doc)
	}
	// Output:
	// cahn
	// film
}
