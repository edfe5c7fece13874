// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func system(k kit.Kit) (*kit.System, error) { return bm25.New(k, bm25.Options{}) }

func TestConform(t *testing.T) { baselinestest.Conform(t, system) }
