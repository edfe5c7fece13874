// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"runtime"
	"testing"
)

// A summarizer that has nothing to do holds nothing.
func TestReadersForget(t *testing.T) {
	s, err := Extractive(ExtractiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := s.(*extractive)
	if _, err := x.Summarize(t.Context(), []string{"The mill stands by the river.", "It was built of stone."}); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	for range cap(x.readers) {
		if by := (<-x.readers).Value(); by != nil {
			t.Errorf("a reader without work remembers %d words", by.words.Len())
		}
	}
}
