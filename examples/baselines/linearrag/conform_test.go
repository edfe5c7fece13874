// SPDX-License-Identifier: Apache-2.0

package linearrag_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/linearrag"
)

func TestConform(t *testing.T) {
	baselinestest.Conform(t, func(kit baselines.Kit) (baselinestest.Incremental, error) {
		return linearrag.New(kit, linearrag.Options{})
	})
}

func BenchmarkQuery(b *testing.B) {
	baselinestest.Queries(b, baselinestest.Largest, func(kit baselines.Kit) (baselinestest.Incremental, error) {
		return linearrag.New(kit, linearrag.Options{})
	})
}
