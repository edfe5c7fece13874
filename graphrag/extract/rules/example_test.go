// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract/extracttest"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/internal/check"
)

func ExampleExtractor() {
	offline, err := rules.New(rules.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := offline.Extract(context.Background(), []graphrag.Chunk{{
		ID: "page#000000", Doc: "page",
		Text: "The Red Cross was founded by Henry Dunant in Geneva in 1863. Among its friends was Clara Barton, the founder of the American Red Cross.",
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range found[0].Mentions {
		fmt.Printf("%s (%s)\n", m.Name, m.Type)
	}
	for _, f := range found[0].Facts {
		fmt.Printf("%s – %s – %s\n", f.Head, f.Relation, f.Tail)
	}
	// Output:
	// Red Cross (other)
	// Henry Dunant (person)
	// Geneva (place)
	// 1863 (date)
	// Clara Barton (person)
	// American Red Cross (other)
	// Red Cross – was founded by – Henry Dunant
	// Red Cross – was founded in – Geneva
	// Red Cross – was founded in – 1863
	// Clara Barton – is founder of – American Red Cross
}

func ExampleExtractor_Entities() {
	offline, err := rules.New(rules.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	known := func(name string) bool { return name == "red cross" }
	for _, m := range offline.Entities("who started the red cross with Clara Barton?", known) {
		fmt.Println(m.Name)
	}
	// Output:
	// red cross
	// Clara Barton
}

func TestConformance(t *testing.T) {
	offline := check.Of(rules.New(rules.Options{})).OK(t)
	extracttest.Test(t, offline)
}
