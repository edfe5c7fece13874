// SPDX-License-Identifier: Apache-2.0

package graphragtest_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Example shows the test of an embedder, as it stands in a test file.
func Example() {
	_ = func(t *testing.T) {
		e := check.Of(embed.FitLSA(t.Context(), []string{"the texts of the corpus"}, embed.LSAOptions{})).OK(t)
		graphragtest.Embedder(t, e)
	}
}
