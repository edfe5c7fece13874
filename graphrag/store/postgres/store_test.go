// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
)

// server is the connection string of a server for tests.
func server(t testing.TB) string {
	url := os.Getenv("WILDGRAPH_POSTGRES")
	if url == "" {
		t.Skip("WILDGRAPH_POSTGRES names no server")
	}
	return url
}

var stores atomic.Int64

// schemas are those of the stores of a test.
var schemas sync.Map

func open(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	if o.Schema == "" {
		o.Schema = fmt.Sprintf("wgtest_%d_%d", os.Getpid(), stores.Add(1))
		t.Cleanup(func() { drop(t, o.Schema) })
	}
	s, err := postgres.Open(t.Context(), server(t), o)
	if err != nil {
		t.Fatal(err)
	}
	schemas.Store(s, o)
	return s
}

func connect(t testing.TB) *pgx.Conn {
	t.Helper()
	db, err := pgx.Connect(context.Background(), server(t))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// drop removes all schemas of a store.
func drop(t testing.TB, schema string) {
	ctx := context.Background()
	db := connect(t)
	defer db.Close(ctx)
	_, err := db.Exec(ctx, fmt.Sprintf(`DO $$ DECLARE n text; BEGIN
		FOR n IN SELECT nspname FROM pg_namespace WHERE nspname = '%[1]s' OR nspname LIKE '%[1]s\_g%%' LOOP
			EXECUTE format('DROP SCHEMA %%I CASCADE', n);
		END LOOP; END $$`, schema))
	if err != nil {
		t.Error(err)
	}
}

func factory(o postgres.Options) storetest.Factory {
	return storetest.Factory{
		New: func(t *testing.T) store.Store { return open(t, o) },
		Crash: func(t *testing.T, s store.Store) store.Store {
			o, _ := schemas.Load(s)
			return open(t, o.(postgres.Options))
		},
	}
}

func TestStore(t *testing.T) { storetest.Test(t, factory(postgres.Options{})) }

func TestHNSW(t *testing.T) {
	storetest.Test(t, factory(postgres.Options{HNSW: &postgres.HNSW{EfConstruction: 128, EfSearch: 200}}))
}

// The server of WILDGRAPH_POSTGRES_SMALL is the only one on its disk.
func TestFull(t *testing.T) {
	fill, free := storetest.Program(t, "WILDGRAPH_FILL"), storetest.Program(t, "WILDGRAPH_FREE")
	t.Setenv("WILDGRAPH_POSTGRES", os.Getenv("WILDGRAPH_POSTGRES_SMALL"))
	s := open(t, postgres.Options{})
	defer s.Close()
	storetest.Full(t, s, fill, free)
}
