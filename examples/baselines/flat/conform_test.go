// SPDX-License-Identifier: Apache-2.0

package flat_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func TestConform(t *testing.T) {
	naive := func(k kit.Kit) (*kit.System, error) { return flat.NewNaiveRAG(k, flat.NaiveOptions{}) }
	for name, system := range map[string]baselinestest.Maker{
		flat.BM25:     func(k kit.Kit) (*kit.System, error) { return flat.NewBM25(k, flat.BM25Options{}) },
		flat.NaiveRAG: naive,
		flat.ZeroShot: func(k kit.Kit) (*kit.System, error) {
			if k.AnswerModel == nil {
				k.AnswerModel = llmtest.NewScript("m")
			}
			return flat.NewZeroShot(k)
		},
	} {
		t.Run(name, func(t *testing.T) { baselinestest.Conform(t, system) })
	}
	t.Run("vectors", func(t *testing.T) { baselinestest.Vectors(t, naive) })
}
