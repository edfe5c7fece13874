// SPDX-License-Identifier: Apache-2.0

package link

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/kg"
)

func TestResolve(t *testing.T) {
	mentions := func(names ...string) (out []kg.Mention) {
		for _, n := range names {
			name, kind, _ := strings.Cut(n, "/")
			out = append(out, kg.Mention{Name: name, Type: kind})
		}
		return out
	}
	x := kg.Extraction{Chunk: "a#0", Doc: "a", Mentions: mentions(
		"Royal Geographical Society/organization", "Royal Geographical Society", "The Royal Geographical Society", "Royal Geographical Societies/organization",
		"Royal Geographical Society’s/event", "Boeing 737", "Boeing 747", "Müller Verlag", "Mueller Verlag")}
	g := put(t, kg.Options{Resolve: Resolution{Similarity: Trigrams{}, Threshold: 0.75}}, x)
	var got []string
	for _, m := range g.Merges {
		if m.Rule != BySimilarity || m.Score < 0.75 || m.Score > 1 {
			t.Errorf("evidence %+v", m)
		}
		got = append(got, m.From+" → "+m.Into)
	}
	want := []string{"royal geographical societies → royal geographical society", "the royal geographical society → royal geographical society"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merges (-want +got):\n%s", diff)
	}
	if e, ok := g.Find("The Royal Geographical Society"); !ok || g.Entities[e].Mentions != 4 || len(g.Entities[e].Names) != 3 {
		t.Errorf("%+v", g.Entities[e])
	}
	g = put(t, kg.Options{Resolve: Resolution{Similarity: Trigrams{}, Threshold: 0.75, AnyType: true}}, x)
	if len(g.Merges) != 3 {
		t.Errorf("of any type: %v", g.Merges)
	}
}

func TestResolutionOptions(t *testing.T) {
	err := Resolution{Threshold: 2, Limit: -1}.Check()
	for _, want := range []string{"Similarity", "Threshold is 2", "Limit is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func TestNoSynonyms(t *testing.T) {
	if s, err := Synonyms(t.Context(), put(t, kg.Options{}), Trigrams{}, SynonymOptions{}); err != nil || s != nil {
		t.Errorf("synonyms %v, %v", s, err)
	}
}
