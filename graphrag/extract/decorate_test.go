// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"context"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/extracttest"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/internal/check"
)

// fixed is an extractor with one given extraction.
type fixed struct{ kg.Extraction }

func (f fixed) Extract(context.Context, []graphrag.Chunk) ([]kg.Extraction, error) {
	return []kg.Extraction{f.Extraction}, nil
}

// Names in two cells of a row are related by no words of the row.
func TestLinkedRows(t *testing.T) {
	x := fixed{kg.Extraction{Mentions: []kg.Mention{{Name: "Ann", Span: kg.Span{Start: 2, End: 5}}, {Name: "Oslo", Span: kg.Span{Start: 17, End: 21}}}}}
	found, err := extract.Linked(x).Extract(t.Context(), []graphrag.Chunk{{Text: "| Ann | laptop | Oslo |"}})
	check.True(t, err == nil && len(found[0].Facts) == 1 && found[0].Facts[0].Relation == "is mentioned with", "%+v, %v", found, err)
}

// Neighbours in a sentence are related once in a chunk, unless a fact relates them; names
// without a span are not.
func TestLinked(t *testing.T) {
	text := "Ann met Bob and Cid. Ann saw Bob. Dan left."
	var x kg.Extraction
	for at, name := range map[int]string{0: "Ann", 8: "Bob", 16: "Cid", 21: "Ann", 29: "Bob", 34: "Dan"} {
		x.Mentions = append(x.Mentions, kg.Mention{Name: name, Span: kg.Span{Start: at, End: at + 3}})
	}
	x.Mentions = append(x.Mentions, kg.Mention{Name: "Eve"})
	relate := func() (out []string) {
		found := check.Of(extract.Described(extract.Linked(fixed{x})).Extract(t.Context(), []graphrag.Chunk{{Text: text}})).OK(t)
		for _, f := range found[0].Facts {
			out = append(out, f.Head+" "+f.Relation+" "+f.Tail+": "+f.Description)
		}
		return out
	}
	check.Equal(t, relate(), []string{"Ann met Bob: Ann met Bob and Cid.", "Bob and Cid: Ann met Bob and Cid."})
	x.Facts = []kg.Fact{{Triple: graphrag.Triple{Head: "bob", Relation: "met by", Tail: "Ann"}, Description: "known"}}
	check.Equal(t, relate(), []string{"bob met by Ann: known", "Bob and Cid: Ann met Bob and Cid."})
}

func TestByNames(t *testing.T) {
	dir := t.TempDir()
	check.OK(t, embedtest.WriteHead(dir, "BertForTokenClassification", "O", "B-PER", "I-PER"))
	names := check.Of(local.OpenNames(dir, local.Options{})).OK(t)
	extracttest.Test(t, extract.ByNames(names))
}
