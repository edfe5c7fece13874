// SPDX-License-Identifier: Apache-2.0

package hipporag2_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func system(k kit.Kit) (*kit.System, error) { return hipporag2.New(k, hipporag2.Options{}) }

func TestConform(t *testing.T) { baselinestest.Conform(t, system) }
func TestVectors(t *testing.T) { baselinestest.Vectors(t, system) }
