// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
)

// The index must not depend on how the work was spread.
func TestBuildIsTheSameInAnyBatches(t *testing.T) {
	at := func(i int) (string, string) {
		return fmt.Sprintf("Title %d", i%7), fmt.Sprintf("the running %d words %d of text %d islands", i%5, i*i%31, i)
	}
	file := func(batch int) []byte {
		ix, err := build(t.Context(), 500, at, Options{TitleWeight: 2}, batch)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := ix.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	want := file(1 << 30)
	for _, procs := range []int{1, 3} {
		old := runtime.GOMAXPROCS(procs)
		for _, batch := range []int{1, 100, 5000} {
			if !bytes.Equal(file(batch), want) {
				t.Errorf("another index with batches of %d bytes on %d processors", batch, procs)
			}
		}
		runtime.GOMAXPROCS(old)
	}
}
