// SPDX-License-Identifier: Apache-2.0

package ircot_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/ircot"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	s, err := ircot.New(k, ircot.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := s.Index(ctx, graphrag.Documents(baselinestest.Pages...)); err != nil {
		panic(err)
	}
	a, err := s.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text)
	for _, step := range a.Steps {
		fmt.Println(strings.TrimSpace(step.Kind + " " + step.Query))
	}
	// Output:
	// The Fram was built by Colin Archer.
	// search Who built the Fram?
	// link Fram
	// reflect
	// stop
}
