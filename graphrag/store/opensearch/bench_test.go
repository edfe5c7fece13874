// SPDX-License-Identifier: Apache-2.0

package opensearch_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/store/opensearch"
	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
)

// WILDGRAPH_ROWS passages (20,000) and hybrid queries; storetest.Bench has the rest.
func BenchmarkEngines(b *testing.B) {
	rows := 20_000
	if n, err := strconv.Atoi(os.Getenv("WILDGRAPH_ROWS")); err == nil {
		rows = n
	}
	b.Run("opensearch", func(b *testing.B) {
		s := open(b, opensearch.Options{})
		defer s.Close()
		storetest.Bench(b, s, rows)
	})
}
