// SPDX-License-Identifier: Apache-2.0

package weaviate_test

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
	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
	"github.com/wildgraph/wildgraph/graphrag/store/weaviate"
)

// nodes are those of a cluster for tests.
func nodes(t testing.TB) []string {
	list := os.Getenv("WILDGRAPH_WEAVIATE")
	if list == "" {
		t.Skip("WILDGRAPH_WEAVIATE names no nodes")
	}
	return strings.Split(list, ",")
}

var (
	stores  atomic.Int64
	options sync.Map // of the stores
)

func open(t testing.TB, o weaviate.Options) store.Store {
	t.Helper()
	if o.Prefix == "" {
		o.Prefix = fmt.Sprintf("wgtest%dd%d", os.Getpid(), stores.Add(1))
	}
	s, err := weaviate.Open(t.Context(), nodes(t), o)
	if err != nil {
		t.Fatal(err)
	}
	options.Store(s, o)
	t.Cleanup(func() { clear(t, o) })
	return s
}

// clear removes what a store has.
func clear(t testing.TB, o weaviate.Options) {
	ctx := context.Background()
	s, err := weaviate.Open(ctx, nodes(t), o)
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

func factory(o weaviate.Options) storetest.Factory {
	return storetest.Factory{
		New: func(t *testing.T) store.Store { return open(t, o) },
		Crash: func(t *testing.T, s store.Store) store.Store {
			o, _ := options.Load(s)
			return open(t, o.(weaviate.Options))
		},
	}
}

func TestStore(t *testing.T) { storetest.Test(t, factory(spread(t))) }

// The disk of the servers is full for a while. It comes last: not every server gets over it.
func TestFull(t *testing.T) {
	fill, free := storetest.Program(t, "WILDGRAPH_FILL"), storetest.Program(t, "WILDGRAPH_FREE")
	s := open(t, weaviate.Options{Wait: time.Second})
	defer s.Close()
	storetest.Full{Fill: fill, Free: free}.Test(t, s)
}
