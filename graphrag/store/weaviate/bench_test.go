// SPDX-License-Identifier: Apache-2.0

package weaviate_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
	"github.com/wildgraph/wildgraph/graphrag/store/weaviate"
)

// WILDGRAPH_ROWS passages (20,000) and hybrid queries; storetest.Bench has the rest.
func BenchmarkEngines(b *testing.B) {
	rows := 20_000
	if n, err := strconv.Atoi(os.Getenv("WILDGRAPH_ROWS")); err == nil {
		rows = n
	}
	b.Run("weaviate", func(b *testing.B) {
		s := open(b, weaviate.Options{})
		defer s.Close()
		storetest.Bench(b, s, rows)
	})
}
