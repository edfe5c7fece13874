// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// The files do not depend on the number of parts in which an index was built, and the parts are removed.
func TestParts(t *testing.T) {
	source := func(yield func(Triple, error) bool) {
		for i := range 1000 {
			e := func(n int) Entity { return Entity{fmt.Sprint("Q", n), fmt.Sprint("thing ", n%70)} }
			if !yield(Triple{e(i % 100), e(1000), e(i * i % 130), i%5 == 0}, nil) {
				return
			}
		}
	}
	var want map[string][]byte
	for _, size := range []int{1000, 400, 7} {
		dir := t.TempDir()
		check.OK(t, build(t.Context(), dir, source, Options{}, size))
		got := map[string][]byte{}
		check.OK(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				got[name], err = os.ReadFile(filepath.Join(dir, name))
			}
			return err
		}))
		if want == nil {
			want = got
		}
		check.True(t, maps.EqualFunc(got, want, bytes.Equal) && len(got) >= 4, "in parts of %d, %d files differ from those in one part", size, len(got))
	}
}
