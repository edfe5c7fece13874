// SPDX-License-Identifier: Apache-2.0

package msgraphrag_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
)

func TestConform(t *testing.T) {
	for name, make := range map[string]func(baselines.Kit) (baselinestest.Incremental, error){
		"local": func(k baselines.Kit) (baselinestest.Incremental, error) {
			return msgraphrag.NewLocal(k, msgraphrag.LocalOptions{})
		},
		"global": func(k baselines.Kit) (baselinestest.Incremental, error) {
			return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{})
		},
		"dynamic": func(k baselines.Kit) (baselinestest.Incremental, error) {
			return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Dynamic: true})
		},
		"drift": func(k baselines.Kit) (baselinestest.Incremental, error) {
			return msgraphrag.NewDrift(k, msgraphrag.DriftOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) { baselinestest.Conform(t, make) })
	}
}
