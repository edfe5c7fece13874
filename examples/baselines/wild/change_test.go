// SPDX-License-Identifier: Apache-2.0

package wild_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/pages"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// changing makes pages of shared sentences: long ones, or titled passages with names.
type changing struct {
	r      *rand.Rand
	titled bool
	german int // of a hundred pages
}

func (c changing) page(id string) graphrag.Document {
	names := []string{"Fridtjof Nansen", "Colin Archer", "Roald Amundsen", "Hjalmar Johansen", "Otto Sverdrup"}
	name := func() string { return names[c.r.IntN(len(names))] }
	d := graphrag.Document{ID: id, Fields: graphrag.Fields{"n": float64(c.r.IntN(9))}}
	sentences := 1 + c.r.IntN(60)
	if c.titled {
		d.Title, sentences = name(), 1+c.r.IntN(6)
	}
	german := c.r.IntN(100) < c.german
	var b strings.Builder
	for range sentences {
		word := fmt.Sprintf("w%d", int(1/(c.r.Float64()+.01)))
		switch {
		case german:
			fmt.Fprintf(&b, "Das Schiff %s und der Kapitän waren nicht auf dem Meer mit %s. ", word, name())
		case c.r.IntN(4) == 0:
			fmt.Fprintf(&b, "Subscribe to our newsletter and follow page %d of the site. ", c.r.IntN(90))
		default:
			fmt.Fprintf(&b, "%s sailed the %s with %s to the harbour of %s. ", name(), word, name(), word)
		}
	}
	d.Text = b.String()
	return d
}

// Whatever pages came, changed and went, what is found is, to the bit, what an index made anew
// finds: of pages and of titled passages, by words and by vectors, also when most pages come to be
// titled or of another language.
func TestChanges(t *testing.T) {
	encoded := 0
	encoder := embed.Func(func(_ context.Context, texts []string) (rows [][]float32, err error) {
		for _, s := range texts {
			encoded++
			rows = append(rows, llmtest.HashVector(s, 8))
		}
		return rows, nil
	})
	for name, o := range map[string]struct {
		pages   changing
		among   int
		encodes bool
	}{
		"pages": {}, "titled": {pages: changing{titled: true}}, "German": {pages: changing{german: 50}},
		"vectors": {encodes: true}, "lazily": {encodes: true, among: 5}, "titled vectors": {pages: changing{titled: true}, encodes: true},
	} {
		t.Run(name, func(t *testing.T) {
			k := baselinestest.OfflineKit(t)
			if o.encodes {
				k = k.WithEmbedder(encoder)
			}
			indexed := func(docs map[string]graphrag.Document) *kit.System {
				s, err := wild.New(k, wild.Options{Pages: pages.Options{Among: o.among}})
				if err == nil {
					_, err = s.Index(t.Context(), graphrag.Documents(slices.Collect(maps.Values(docs))...))
				}
				check.OK(t, err)
				return s
			}
			o.pages.r = rand.New(rand.NewPCG(4, uint64(len(name))))
			r, docs := o.pages.r, map[string]graphrag.Document{}
			for i := range 30 {
				id := fmt.Sprintf("d%d", i)
				docs[id] = o.pages.page(id)
			}
			s := indexed(docs)
			for step := range 40 {
				if step == 30 { // what was titled comes to be pages, and the other way round
					o.pages.titled = !o.pages.titled
				}
				var come []graphrag.Document
				for range 1 + r.IntN(5) {
					id := fmt.Sprintf("d%d", r.IntN(60))
					if slices.ContainsFunc(come, func(d graphrag.Document) bool { return d.ID == id }) {
						continue
					}
					come = append(come, o.pages.page(id))
				}
				gone := fmt.Sprintf("d%d", r.IntN(60))
				delete(docs, gone)
				for _, d := range come {
					docs[d.ID] = d
				}
				before := encoded
				check.OK(t, check.Err(s.Update(t.Context(), graphrag.Documents(come...), gone)))
				if tiles := encoded - before; o.encodes && !o.pages.titled && step < 30 && tiles > 40*len(come) {
					t.Errorf("step %d: %d texts were encoded for %d pages", step, tiles, len(come))
				}
				fresh := indexed(docs)
				for _, q := range []graphrag.Question{
					{Text: fmt.Sprintf("Who sailed the w%d with Nansen to w2?", 1+r.IntN(50)), K: 5, Depth: 50},
					{Text: "Summarize the voyages of Otto Sverdrup and the w3.", Tokens: 300, Depth: 20},
					{Text: "Welches Schiff war mit Colin Archer auf dem Meer?", Tokens: 200, Depth: 60},
				} {
					want, err1 := fresh.Retrieve(t.Context(), q)
					got, err2 := s.Retrieve(t.Context(), q)
					if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(graphrag.Found{}, "Usage")); diff != "" || err1 != nil || err2 != nil {
						t.Fatalf("step %d, %d pages, %q (-made anew +changed):\n%.3000s %v %v", step, len(docs), q.Text, diff, err1, err2)
					}
				}
			}
		})
	}
}
