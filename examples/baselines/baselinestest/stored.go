// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Stored checks that a system finds the same IDs and scores in a store as in memory: after changes, under
// conditions and scopes, with a budget of tokens, and after it was opened again.
func Stored(t *testing.T, recipe func(kit.Kit, kit.Common) (*kit.System, error), s store.Store) {
	t.Helper()
	memory, err := recipe(OfflineKit(t).WithEmbedder(hashes{}), kit.Common{Cut: kit.Cut{Size: 60}})
	OK(t, err)
	stored := InStore(t, recipe, s)
	own := s.Can().OwnWords
	pages := slices.Clone(Pages)
	for i := range pages {
		pages[i].Fields = graphrag.Fields{"n": float64(i), "tags": []string{"all", pages[i].ID}}
	}
	same := func(change func(*kit.System) (graphrag.IndexStats, error)) {
		t.Helper()
		want, err1 := change(memory)
		got, err2 := change(stored)
		OK(t, errors.Join(err1, err2))
		opened := InStore(t, recipe, s)
		for name, s := range map[string]*kit.System{"the one that wrote": stored, "opened": opened} {
			if diff := cmp.Diff(evidence(t, memory, own), evidence(t, s, own)); diff != "" || got.Documents != want.Documents || got.Chunks != want.Chunks {
				t.Fatalf("%s, of %+v and %+v (-memory +store):\n%s", name, want, got, diff)
			}
		}
		OK(t, opened.Close())
	}
	same(func(s *kit.System) (graphrag.IndexStats, error) {
		return s.Index(t.Context(), graphrag.Documents(pages...))
	})
	same(func(s *kit.System) (graphrag.IndexStats, error) { return s.Delete(t.Context(), pages[0].ID, "unknown") })
	pages[1].Text = pages[1].Text[:len(pages[1].Text)/3]
	pages[2].Text += pages[0].Text
	same(func(s *kit.System) (graphrag.IndexStats, error) {
		return s.Update(t.Context(), graphrag.Documents(pages[1], pages[2], graphrag.Document{ID: "empty"}), pages[2].ID, "empty")
	})
	same(func(s *kit.System) (graphrag.IndexStats, error) {
		return s.Index(t.Context(), graphrag.Documents(pages[2:]...))
	})
	OK(t, stored.Close())
}

// Storable lists the systems that can be in a store.
var Storable = []string{"bm25", "naiverag"}

// InStore opens a system in a store, by its name.
func InStore(t *testing.T, recipe func(kit.Kit, kit.Common) (*kit.System, error), st store.Store) *kit.System {
	t.Helper()
	memory, err := recipe(OfflineKit(t).WithEmbedder(hashes{}), kit.Common{Cut: kit.Cut{Size: 60}})
	OK(t, err)
	s, err := kit.Open(t.Context(), memory.Frame(), st, memory.Name())
	OK(t, err)
	return s
}

// hashes is an embedder: a vector is the sum of one direction per word.
type hashes struct{}

func (hashes) Dim() int { return 32 }

func (hashes) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v := make([]float32, 32)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New32a()
		h.Write([]byte(strings.Trim(word, ".,?")))
		for i := range v {
			v[i] += float32(h.Sum32()>>i&1) - .5
		}
	}
	return v, ctx.Err()
}

func (e hashes) EmbedDocuments(ctx context.Context, texts []string) (out [][]float32, err error) {
	for _, text := range texts {
		v, failed := e.EmbedQuery(ctx, text)
		out, err = append(out, v), errors.Join(err, failed)
	}
	return out, err
}

// evidence lists the documents of a system and its results for questions, also under conditions and scopes.
func evidence(t *testing.T, s *kit.System, conditions bool) (out []string) {
	t.Helper()
	ids, err := s.List(t.Context())
	OK(t, err)
	for _, id := range append(ids, "unknown") {
		chunks, ok, err := s.Get(t.Context(), id)
		OK(t, err)
		out = append(out, fmt.Sprint(id, ok, chunks))
	}
	tag := graphrag.Has("tags", Pages[2].ID)
	few, others, none := graphrag.Between("n", 1, 2), graphrag.Not(tag), graphrag.Equal("nothing", 1)
	for _, q := range Questions {
		for _, where := range []*graphrag.Condition{nil, &few, &others, &none} {
			for _, scope := range []*graphrag.Condition{nil, &few, &tag} {
				ctx := t.Context()
				if !conditions && (where != nil || scope != nil) {
					continue
				}
				if scope != nil {
					ctx = graphrag.WithScope(ctx, *scope)
				}
				for _, q := range []graphrag.Question{{Text: q.Text, K: 4, Where: where}, {Text: q.Text, Tokens: 150, Where: where}} {
					found, err := s.Retrieve(ctx, q)
					if errors.Is(err, kit.ErrField) {
						err = kit.ErrField
					}
					out = append(out, fmt.Sprint(q, err))
					for _, h := range slices.Concat(found.Ranked, found.Evidence) {
						out = append(out, fmt.Sprintf("%v %.5f %s", h.Chunk, h.Score, h.Source))
					}
				}
			}
		}
	}
	return out
}
