// SPDX-License-Identifier: Apache-2.0

package naiverag_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/naiverag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func system(k kit.Kit) (*kit.System, error) { return naiverag.New(k, naiverag.Options{}) }

func TestConform(t *testing.T) { baselinestest.Conform(t, system) }
func TestVectors(t *testing.T) { baselinestest.Vectors(t, system) }
