// SPDX-License-Identifier: Apache-2.0

package hipporag_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
)

func TestConform(t *testing.T) {
	baselinestest.Conform(t, func(kit baselines.Kit) (baselinestest.Incremental, error) {
		return hipporag.New(kit, hipporag.Options{})
	})
}

func BenchmarkQuery(b *testing.B) {
	baselinestest.Queries(b, baselinestest.Largest, func(kit baselines.Kit) (baselinestest.Incremental, error) {
		return hipporag.New(kit, hipporag.Options{})
	})
}
