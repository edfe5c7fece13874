// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
)

// folders are those of the stores of a test.
var folders sync.Map

func open(t *testing.T, dir string, o disk.Options) store.Store {
	t.Helper()
	s, err := disk.Open(dir, o)
	texttest.OK(t, err)
	folders.Store(s, dir)
	return s
}

func buildSchema() store.Schema {
	return store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: 8}}}
}

// factory makes stores. A process that is killed leaves what is in the folder.
func factory(o disk.Options) storetest.Factory {
	return storetest.Factory{
		New: func(t *testing.T) store.Store { return open(t, t.TempDir(), o) },
		Crash: func(t *testing.T, s store.Store) store.Store {
			dir, _ := folders.Load(s)
			left := filepath.Join(t.TempDir(), "left")
			texttest.OK(t, os.CopyFS(left, os.DirFS(dir.(string))))
			return open(t, left, o)
		},
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Test(t, factory(disk.Options{}))
}

// With a memory that is always full, segments that are never merged.
func TestSmall(t *testing.T) {
	t.Parallel()
	storetest.Test(t, factory(disk.Options{Memory: 1 << 16, SegmentRows: 100}))
}
