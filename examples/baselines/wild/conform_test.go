// SPDX-License-Identifier: Apache-2.0

package wild_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func system(k kit.Kit) (*kit.System, error) { return wild.New(k, wild.Options{}) }

func TestConform(t *testing.T) { baselinestest.Conform(t, system) }
