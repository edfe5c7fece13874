// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"context"
	"path/filepath"
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
