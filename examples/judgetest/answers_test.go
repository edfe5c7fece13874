// SPDX-License-Identifier: Apache-2.0

// Package judgetest_test tests the answers of a system like any other code: go test says
// which answer lacks which fact. The judge is the lexical one, without a model.
package judgetest_test

import (
	"context"
	"os"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/judgetest"
)

func TestAnswers(t *testing.T) {
	parts := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
	system := check.Of(flat.NewBM25(parts, flat.BM25Options{})).OK(t)
	check.OK(t, check.Err(system.Index(t.Context(), load.Documents(t.Context(), os.DirFS("../ask/testdata/corpus")))))
	judgetest.Run(t, judgetest.Suite{
		Ask: func(ctx context.Context, question string) (graphrag.Answer, error) {
			return system.Answer(ctx, graphrag.Question{Text: question, K: 5})
		},
		Cases: []judgetest.Case{{
			Question: "Why are there two high tides a day?",
			Checks:   []judgetest.Check{judgetest.Covers(1, "The moon draws the water on the near side."), judgetest.Cites("tides.txt")},
		}},
	})
}
