// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Chains score by the index of the graph as by one of their texts; where the words of
// the two, or what compares, are of other kinds, by their texts alone.
func TestScores(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	name := func() triples.Entity {
		s := fmt.Sprint([]string{"Edward", "Laughter's", "漢字", "choir", "oysters", "the"}[rnd.IntN(6)], " ", rnd.IntN(30))
		return triples.Entity{ID: s, Label: s}
	}
	source := func(yield func(triples.Triple, error) bool) {
		for range 500 {
			if !yield(triples.Triple{Head: name(), Relation: name(), Tail: name()}, nil) {
				return
			}
		}
	}
	chains := func() [][]int32 {
		out := make([][]int32, 1+rnd.IntN(200))
		for i := range out {
			for range 1 + rnd.IntN(3) {
				out[i] = append(out[i], int32(rnd.IntN(500)))
			}
		}
		return out
	}
	const question = "Where did the choir of Edward 7 eat oysters, 漢字 12?"
	for _, x := range []struct {
		analyzer text.Analyzer
		hidden   bool // that it is words that compare
		joined   bool
	}{{nil, false, true}, {text.Plain(), false, false}, {nil, true, false}} {
		ix := check.Of(triples.New(t.Context(), source, triples.Options{Analyzer: x.analyzer})).OK(t)
		find := func(ctx context.Context, texts text.List) (retrieve.Texts, error) {
			w, err := retrieve.NewWords(ctx, texts)
			if x.hidden {
				return struct{ retrieve.Texts }{w}, err
			}
			return w, err
		}
		g, err := corpusGraph(kit.Kit{}.Corpus(nil, nil), Indexed(ix), nil)
		check.OK(t, err)
		a := &around{Graph: g(), question: question, find: find}
		for range 5 {
			asked := chains()
			got, err := a.Scores(t.Context(), asked)
			check.OK(t, err)
			want, err := (&around{Graph: a.Graph, question: question, find: find}).Scores(t.Context(), asked)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v, want %v, %v", got, want, err)
			}
			var near []proximal
			for _, c := range asked {
				n := a.Triple(c[0])
				near = append(near, proximal{graphrag.Triple{Head: n.Head.Label, Relation: n.Relation.Label, Tail: n.Tail.Label}, c[0], graphrag.Provenance{}})
			}
			s := &searcher{Parts: Parts{Find: find}}
			remembered, err1 := s.memory(t.Context(), a, near)
			fresh, err2 := s.memory(t.Context(), &around{question: question}, near)
			if diff := cmp.Diff(fresh, remembered); diff != "" || err1 != nil || err2 != nil {
				t.Fatal(diff, err1, err2)
			}
			if a.joined != nil != x.joined {
				t.Fatalf("by the index: %v", a.joined != nil)
			}
		}
	}
}
