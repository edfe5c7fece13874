// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
)

// WILDGRAPH_ROWS passages (20,000) and hybrid queries; storetest.Bench has the rest.
func BenchmarkEngines(b *testing.B) {
	rows := 20_000
	if n, err := strconv.Atoi(os.Getenv("WILDGRAPH_ROWS")); err == nil {
		rows = n
	}
	for _, engine := range []struct {
		name string
		open func(b *testing.B) store.Store
	}{
		{"disk", func(b *testing.B) store.Store {
			s, err := disk.Open(b.TempDir(), disk.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return s
		}},
		{"postgres", func(b *testing.B) store.Store { return open(b, postgres.Options{}) }},
		{"postgres-hnsw", func(b *testing.B) store.Store { return open(b, postgres.Options{HNSW: &postgres.HNSW{EfSearch: 100}}) }},
	} {
		b.Run(engine.name, func(b *testing.B) {
			s := engine.open(b)
			defer s.Close()
			storetest.Bench(b, s, rows)
		})
	}
}
