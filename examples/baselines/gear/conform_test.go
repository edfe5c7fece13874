// SPDX-License-Identifier: Apache-2.0

package gear_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func system(k kit.Kit) (*kit.System, error) { return gear.New(k, gear.Options{}) }

func original(k kit.Kit) (*kit.System, error) { return gear.New(k, gear.Options{Original: true}) }

func TestConform(t *testing.T)         { baselinestest.Conform(t, system) }
func TestConformOriginal(t *testing.T) { baselinestest.Conform(t, original) }
func TestVectors(t *testing.T)         { baselinestest.Vectors(t, system) }
