// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/llm/journal"

	"github.com/wildgraph/wildgraph/llm"
)

type parrot struct{}

func (parrot) Name() string { return "parrot" }
func (parrot) Generate(_ context.Context, req llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: req.Messages[0].Text, Finish: llm.FinishStop}, nil
}
func (parrot) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{float32(len(t))}
	}
	return out, nil
}
func (parrot) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return []float32{float32(len(text))}, nil
}

// A hit compares what was asked, not only its hash: records that were mixed
// up answer for nobody.
func TestRecordOfAnotherRequestIsRefused(t *testing.T) {
	j, err := journal.Open(filepath.Join(t.TempDir(), "j"), journal.Header{Schema: Schema}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	m, err := Cached(parrot{}, j, CacheOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := CachedEmbedder("parrot", parrot{}, j)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a", "bb"} {
		if _, err := m.Generate(t.Context(), llm.Prompt(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := e.EmbedQuery(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	swap := func(known map[key]int64) {
		var keys []key
		for k := range known {
			keys = append(keys, k)
		}
		known[keys[0]], known[keys[1]] = known[keys[1]], known[keys[0]]
	}
	swap(m.(*cached).known)
	swap(e.(*cachedEmbedder).known)
	if reply, err := m.Generate(t.Context(), llm.Prompt("a")); err == nil || !strings.Contains(err.Error(), "another request") {
		t.Errorf("%+v, %v", reply, err)
	}
	if v, err := e.EmbedQuery(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "another text") {
		t.Errorf("%v, %v", v, err)
	}
}

// An earlier program may have kept what is refused today: it is dropped with a word,
// and asked for again.
func TestPoisonedVectorsAreDropped(t *testing.T) {
	j, err := journal.Open(filepath.Join(t.TempDir(), "j"), journal.Header{Schema: Schema}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var log strings.Builder
	texts := []string{"a", "bb", "ccc", "dddd", "eeeee"}
	c := newCache(j, slog.New(slog.NewTextHandler(&log, nil)))
	for i, v := range [][]float32{{0}, {float32(math.NaN())}, {1, 2}, {1e30}} {
		for _, query := range []bool{false, true} {
			k := embeddingKey("parrot", query, texts[i])
			if err := c.keep(recordVector, k, encodeVector(k, v)); err != nil {
				t.Fatal(err)
			}
		}
	}
	e := &cachedEmbedder{cache: c, name: "parrot", e: parrot{}}
	for range 2 {
		out, err := e.EmbedDocuments(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range out {
			q, err := e.EmbedQuery(t.Context(), texts[i])
			if want := []float32{float32(i + 1)}; !slices.Equal(v, want) || !slices.Equal(q, want) || err != nil {
				t.Errorf("%q: %v, %v, %v", texts[i], v, q, err)
			}
		}
		if got := strings.Count(log.String(), "asking again"); got != 8 {
			t.Errorf("%d vectors were dropped, want 8:\n%s", got, &log)
		}
	}
}
