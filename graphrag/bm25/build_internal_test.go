// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"bytes"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/text"
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

// Of texts that are made when they are read few are read to cut the batches, and all once
// more; the index is that of texts that are there.
func TestBuildReadsEachTextOnce(t *testing.T) {
	const n = 3*measured + 1
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d of %d islands", i, i*i%31)
	}
	read := make([]atomic.Int32, n)
	of := func(texts text.List) []byte {
		ix, err := BuildList(t.Context(), texts, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := ix.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	made := of(text.NewList(n, func(i int) string { read[i].Add(1); return texts[i] }))
	if !bytes.Equal(made, of(text.Strings(texts))) {
		t.Error("another index of texts that are made when they are read")
	}
	twice := 0
	for i := range read {
		switch read[i].Load() {
		case 1:
		case 2:
			twice++
		default:
			t.Fatalf("text %d was read %d times", i, read[i].Load())
		}
	}
	if twice > measured {
		t.Errorf("%d of %d texts were read twice, want %d at most", twice, n, measured)
	}
}
