// SPDX-License-Identifier: Apache-2.0

package raptor_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/raptor"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func system(k kit.Kit) (*kit.System, error) { return raptor.New(k, raptor.Options{}) }

func traversed(k kit.Kit) (*kit.System, error) { return raptor.New(k, raptor.Options{Traverse: true}) }

func TestConform(t *testing.T)          { baselinestest.Conform(t, system) }
func TestConformTraversed(t *testing.T) { baselinestest.Conform(t, traversed) }
func TestVectors(t *testing.T)          { baselinestest.Vectors(t, system) }
