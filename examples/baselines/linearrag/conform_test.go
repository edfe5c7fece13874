// SPDX-License-Identifier: Apache-2.0

package linearrag_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/linearrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func TestConform(t *testing.T) {
	baselinestest.Conform(t, func(k kit.Kit) (*kit.System, error) {
		return linearrag.New(k, linearrag.Options{})
	})
}

func BenchmarkQuery(b *testing.B) {
	baselinestest.Queries(b, baselinestest.Largest, func(k kit.Kit) (*kit.System, error) {
		return linearrag.New(k, linearrag.Options{})
	})
}
