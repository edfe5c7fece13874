// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/check"
)

// readings is a tracer that knows how many chunks the rules have read.
type readings struct{ n int64 }

func (r *readings) Start(ctx context.Context, _ string, _ ...slog.Attr) (context.Context, trace.Span) {
	return ctx, r
}

func (r *readings) Set(attrs ...slog.Attr) {
	for _, a := range attrs {
		if a.Key == "wildgraph.read" {
			r.n += a.Value.Int64()
		}
	}
}

func (r *readings) End(error) {}

// randomChunk has words that are names here and common there, and lines that come to be shared.
func randomChunk(r *rand.Rand, id string) graphrag.Chunk {
	words := strings.Fields("Archer archer Fram fram WHO Oslo Parker parker Bell bell Rock rock March Sandeman Quiviger Mungo mcDow eBay Bergen-based Hope hope " +
		"Lord Light light House house May may Trinity Institute of for and")
	word := func() string {
		if i := int(1 / (r.Float64() + .003)); i > 12 {
			return string("BKLMTbklmt"[i%10]) + string("aeiou"[i%5]) + string("rnlst"[i/5%5]) + string("aeiou"[i/25%5])
		}
		return words[r.IntN(len(words))]
	}
	var b strings.Builder
	for range r.IntN(9) {
		switch r.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "\nNews of %s and Weather %d\n", words[r.IntN(len(words))], r.IntN(3))
		case 1:
			fmt.Fprintf(&b, "%s: %s %s\n\n", word(), word(), word())
		case 2:
			fmt.Fprintf(&b, "Das Schiff %s und der Kapitän %s %s waren nicht auf dem Meer. ", word(), word(), word())
		default:
			fmt.Fprintf(&b, "%s %s was the captain of the %s, and he sailed from %s to the %s in 19%d with %s %s. ", word(), word(), word(), word(), word(), 10+r.IntN(80), word(), word())
		}
	}
	return graphrag.Chunk{ID: id, Doc: id[:3], Title: word(), Index: r.IntN(3) / 2, Text: b.String(), Tokens: b.Len() / 4}
}

// Whatever chunks come and go, what is found is what one reading of all finds, and a few are read;
// also when the corpus comes to be a large one, most of it goes, or a change is given up.
func TestChanges(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := check.Of(rules.New(rules.Options{Workers: 1 + int(seed)%3})).OK(t)
		all := extract.Described(extract.Titled(extract.Linked(x), true))
		again, first := 0, 0
		ctx := new(memo.Keeper).With(t.Context())
		chunks := map[string]graphrag.Chunk{}
		for step := range 36 {
			of, come := 150+int(seed)*100, 1+r.IntN(3)
			switch step {
			case 0, 20:
				come = of
			case 16:
				chunks = map[string]graphrag.Chunk{}
			}
			for range come {
				id := fmt.Sprintf("%03d#%d", r.IntN(of), r.IntN(2))
				chunks[id] = randomChunk(r, id)
			}
			for range 2 {
				delete(chunks, fmt.Sprintf("%03d#0", r.IntN(of)))
			}
			ids := slices.Sorted(maps.Keys(chunks))
			if step%3 == 0 {
				slices.Reverse(ids)
			}
			var now []graphrag.Chunk
			for _, id := range ids {
				now = append(now, chunks[id])
			}
			if step%7 == 3 && len(now) > 1 { // one twice, and one ID of two texts
				now = append(now, now[0], randomChunk(r, now[1].ID))
			}
			if step%11 == 5 {
				given, cancel := context.WithCancel(ctx)
				cancel()
				check.Must(t, check.Err(all.Extract(given, now[:len(now)/2])) != nil, "a change that was given up has no error")
			}
			read := &readings{}
			traced, _ := trace.Start(trace.With(ctx, read), "")
			got, err1 := all.Extract(traced, now)
			want, err2 := all.Extract(t.Context(), now)
			if !reflect.DeepEqual(want, got) || err1 != nil || err2 != nil {
				t.Fatalf("seed %d, step %d, %d chunks (-at once +changed):\n%.3000s %v %v", seed, step, len(now), cmp.Diff(want, got), err1, err2)
			}
			if come < 4 && step%11 != 5 && step%7 != 3 && step%7 != 4 && step != 16 {
				again, first = again+int(read.n)-come, first+come
			}
		}
		if again > 40*first { // of passages of an encyclopedia it is four
			t.Errorf("seed %d: beside %d chunks that came, %d were read again", seed, first, again)
		}
	}
}
