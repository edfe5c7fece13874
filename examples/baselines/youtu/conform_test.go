// SPDX-License-Identifier: Apache-2.0

package youtu_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func system(k kit.Kit) (*kit.System, error) { return youtu.New(k, youtu.Options{}) }

func noAgent(k kit.Kit) (*kit.System, error) { return youtu.New(k, youtu.Options{NoAgent: true}) }

func TestConform(t *testing.T)        { baselinestest.Conform(t, system) }
func TestConformNoAgent(t *testing.T) { baselinestest.Conform(t, noAgent) }
func TestVectors(t *testing.T)        { baselinestest.Vectors(t, system) }
