// SPDX-License-Identifier: Apache-2.0

package hipporag2_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func TestConform(t *testing.T) {
	baselinestest.Conform(t, func(k kit.Kit) (*kit.System, error) {
		return hipporag2.New(k, hipporag2.Options{})
	})
}

func BenchmarkQuery(b *testing.B) {
	baselinestest.Queries(b, baselinestest.Largest, func(k kit.Kit) (*kit.System, error) {
		return hipporag2.New(k, hipporag2.Options{})
	})
}
