// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// lengths embeds a text as its length, until it fails.
type lengths struct{ calls, fails, short int }

func (l *lengths) EmbedDocuments(_ context.Context, texts []string) (rows [][]float32, err error) {
	if l.calls++; l.calls == l.fails {
		return nil, errors.New("no line")
	}
	for _, t := range texts {
		rows = append(rows, []float32{float32(len(t))})
	}
	if l.calls == l.short {
		rows = rows[1:]
	}
	return rows, nil
}

func (l *lengths) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return []float32{float32(len(text))}, nil
}

func TestBatches(t *testing.T) {
	var texts []string
	var want []float32
	for i := range 600 {
		texts, want = append(texts, fmt.Sprintf("%*d", i, i)), append(want, float32(max(i, len(fmt.Sprint(i)))))
	}
	for _, x := range []struct {
		e     lengths
		calls int
		ok    bool
	}{{lengths{}, 3, true}, {lengths{fails: 2}, 2, false}, {lengths{short: 3}, 3, false}} {
		var got []float32
		var failed error
		for rows, err := range embed.Batches(t.Context(), &x.e, text.Strings(texts)) {
			if err != nil {
				failed = err
				continue
			}
			for _, row := range rows {
				got = append(got, row...)
			}
		}
		check.True(t, x.e.calls == x.calls && (failed == nil) == x.ok && (!x.ok || slices.Equal(got, want)),
			"%+v: %d vectors, %v", x.e, len(got), failed)
	}
	for range embed.Batches(t.Context(), &lengths{}, text.List{}) {
		t.Error("no texts are embedded")
	}
}

func TestQuery(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1} {
		row, err := embed.Query(t.Context(), &lengths{}, text)
		check.True(t, err == nil && len(row) == want, "%q: %v, %v", text, row, err)
	}
}
