// SPDX-License-Identifier: Apache-2.0

package zeroshot_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/zeroshot"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func TestConform(t *testing.T) {
	baselinestest.Conform(t, func(k kit.Kit) (*kit.System, error) {
		if k.AnswerModel == nil {
			k.AnswerModel = llmtest.NewScript("m")
		}
		return zeroshot.New(k)
	})
}
