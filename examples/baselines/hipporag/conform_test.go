// SPDX-License-Identifier: Apache-2.0

package hipporag_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func system(k kit.Kit) (*kit.System, error) { return hipporag.New(k, hipporag.Options{}) }

func TestConform(t *testing.T) { baselinestest.Conform(t, system) }
func TestVectors(t *testing.T) { baselinestest.Vectors(t, system) }
