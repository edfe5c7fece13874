// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

func TestList(t *testing.T) {
	want := []string{"a", "b", "c"}
	made := text.NewList(len(want), func(i int) string { return string(rune('a' + i)) })
	for _, l := range []text.List{text.Strings(want), made} {
		if got := slices.Collect(l.All()); l.Len() != 3 || l.At(2) != "c" || !slices.Equal(got, want) {
			t.Errorf("%d texts, %v", l.Len(), got)
		}
		for range l.All() {
			break
		}
	}
	if none := (text.List{}); none.Len() != 0 || slices.Collect(none.All()) != nil {
		t.Error("texts in an empty list")
	}
}
