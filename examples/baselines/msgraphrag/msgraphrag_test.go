// SPDX-License-Identifier: Apache-2.0

package msgraphrag_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

var systems = []struct {
	name string
	make func(kit.Kit) (*kit.System, error)
}{
	{"local", func(k kit.Kit) (*kit.System, error) {
		return msgraphrag.NewLocal(k, msgraphrag.LocalOptions{})
	}},
	{"global", func(k kit.Kit) (*kit.System, error) {
		return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{})
	}},
	{"dynamic", func(k kit.Kit) (*kit.System, error) {
		return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Dynamic: true})
	}},
	{"drift", func(k kit.Kit) (*kit.System, error) {
		return msgraphrag.NewDrift(k, msgraphrag.DriftOptions{})
	}},
}

func TestConform(t *testing.T) {
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) {
			baselinestest.Conform(t, s.make)
			baselinestest.Vectors(t, s.make)
		})
	}
}
