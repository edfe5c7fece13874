// SPDX-License-Identifier: Apache-2.0

package msgraphrag_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
)

var systems = []struct {
	name string
	make func(baselines.Kit) (baselinestest.Incremental, error)
}{
	{"local", func(k baselines.Kit) (baselinestest.Incremental, error) {
		return msgraphrag.NewLocal(k, msgraphrag.LocalOptions{})
	}},
	{"global", func(k baselines.Kit) (baselinestest.Incremental, error) {
		return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{})
	}},
	{"dynamic", func(k baselines.Kit) (baselinestest.Incremental, error) {
		return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Dynamic: true})
	}},
	{"drift", func(k baselines.Kit) (baselinestest.Incremental, error) {
		return msgraphrag.NewDrift(k, msgraphrag.DriftOptions{})
	}},
}

func TestConform(t *testing.T) {
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) { baselinestest.Conform(t, s.make) })
	}
}

func BenchmarkQuery(b *testing.B) {
	for _, s := range systems {
		b.Run(s.name, func(b *testing.B) { baselinestest.Queries(b, baselinestest.Largest, s.make) })
	}
}
