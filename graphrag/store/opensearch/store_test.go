// SPDX-License-Identifier: Apache-2.0

package opensearch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/opensearch"
	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
)

// nodes are those of a cluster for tests.
func nodes(t testing.TB) []string {
	list := os.Getenv("WILDGRAPH_OPENSEARCH")
	if list == "" {
		t.Skip("WILDGRAPH_OPENSEARCH names no nodes")
	}
	return strings.Split(list, ",")
}

var (
	stores  atomic.Int64
	options sync.Map // of the stores
)

func open(t testing.TB, o opensearch.Options) store.Store {
	t.Helper()
	if o.Prefix == "" {
		o.Prefix = fmt.Sprintf("wgtest%d-%d", os.Getpid(), stores.Add(1))
	}
	s, err := opensearch.Open(t.Context(), nodes(t), o)
	if err != nil {
		t.Fatal(err)
	}
	options.Store(s, o)
	t.Cleanup(func() { clear(t, o) })
	return s
}

// clear removes what a store has.
func clear(t testing.TB, o opensearch.Options) {
	ctx := context.Background()
	s, err := opensearch.Open(ctx, nodes(t), o)
	if err != nil {
		t.Error(err)
		return
	}
	names, err := s.Collections(ctx)
	for _, name := range names {
		err = errors.Join(err, s.Drop(ctx, name))
	}
	if err = errors.Join(err, s.Close()); err != nil {
		t.Error(err)
	}
}

func factory(o opensearch.Options) storetest.Factory {
	return storetest.Factory{
		New: func(t *testing.T) store.Store { return open(t, o) },
		Crash: func(t *testing.T, s store.Store) store.Store {
			o, _ := options.Load(s)
			return open(t, o.(opensearch.Options))
		},
	}
}

func TestStore(t *testing.T) { storetest.Test(t, factory(spread(t))) }

// The disk of the servers is full for a while. It comes last: not every server gets over it.
func TestFull(t *testing.T) {
	fill, free := storetest.Program(t, "WILDGRAPH_FILL"), storetest.Program(t, "WILDGRAPH_FREE")
	s := open(t, opensearch.Options{Wait: time.Second})
	defer s.Close()
	storetest.Full{Fill: fill, Free: free}.Test(t, s)
}
