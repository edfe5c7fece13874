// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func pages(n int) []graphrag.Chunk {
	var chunks []graphrag.Chunk
	for i := range n {
		for part := range 2 {
			chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprintf("%03d#%d", i, part), Doc: fmt.Sprintf("%03d", i), Text: fmt.Sprintf("page %03d part %d ", i, part) + strings.Repeat("x ", 3000)})
		}
	}
	return chunks
}

// A schema is made of the beginnings of eight documents, by one call, and a document
// more is mostly none of them.
func TestInduce(t *testing.T) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, `{"Nodes": ["person", "Person ", "", null, 7, "`+strings.Repeat("long", 20)+`", "ship"], "Relations": ["built_by", "built by"], "Attributes": []}`)
	s, err := extract.Induce(t.Context(), m, pages(50))
	texttest.OK(t, err)
	want := map[string][]string{"Nodes": {"person", "ship"}, "Relations": {"built_by"}, "Attributes": {}}
	if diff := cmp.Diff(want, s.Plain()); diff != "" {
		t.Error(diff)
	}
	shown := func(n int) string {
		_, err := extract.Induce(t.Context(), m, pages(n))
		texttest.OK(t, err)
		all := m.Requests()
		_, text, _ := strings.Cut(all[len(all)-1].Messages[1].Text, "\n") // after the mark
		return text[:strings.LastIndex(text, "\n")]
	}
	if text := shown(50); strings.Count(text, "page ") != 8 || strings.Contains(text, "part 1") || len(text) > 8*2100 {
		t.Errorf("%d bytes of %d pages", len(text), strings.Count(text, "page "))
	}
	same := 0
	for n := 50; n < 60; n++ {
		if shown(n) == shown(n+1) {
			same++
		}
	}
	if same < 7 {
		t.Errorf("one page more changes what is shown %d times of 10", 10-same)
	}
	if none, err := extract.Induce(t.Context(), m, nil); err != nil || len(none.EntityTypes) != 0 {
		t.Errorf("of nothing: %+v, %v", none, err)
	}
	if _, err := extract.Induce(t.Context(), nil, pages(1)); err == nil {
		t.Error("without a model")
	}
	if _, err := extract.Induce(t.Context(), llmtest.NewScript("m").Reply(llmtest.Any, `{"Nodes": []}`), pages(1)); !llm.OfOneReply(err) {
		t.Errorf("no types: %v", err)
	}
	if _, err := extract.Induce(t.Context(), llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth}), pages(1)); !errors.Is(err, llm.ErrAuth) {
		t.Error(err)
	}
}

// recorded gives every chunk the same lists.
type recorded kg.Extraction

func (r recorded) Extract(_ context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		out[i] = kg.Extraction{Chunk: c.ID, Doc: c.Doc, Mentions: r.Mentions, Facts: r.Facts}
	}
	return out, nil
}

// What is bounded is a copy: records that serve others stay whole.
func TestBoundedRecords(t *testing.T) {
	recorded := recorded{Mentions: []kg.Mention{{Name: "a"}, {Name: "b"}}}
	for _, r := range []string{"a knows b", "a built_by b", "b met a"} {
		parts := strings.Fields(r)
		recorded.Facts = append(recorded.Facts, kg.Fact{Triple: graphrag.Triple{Head: parts[0], Relation: parts[1], Tail: parts[2]}})
	}
	e, err := extract.NewBySchema(extract.SchemaOptions{By: recorded, Schema: schema()})
	texttest.OK(t, err)
	chunk := []graphrag.Chunk{{ID: "d#0", Doc: "d", Text: "p"}}
	bounded, err := e.Extract(t.Context(), chunk)
	if err != nil || len(bounded[0].Facts) != 0 || len(bounded[0].Mentions) != 2 { // nothing has a type
		t.Errorf("%+v, %v", bounded, err)
	}
	whole, err := recorded.Extract(t.Context(), chunk)
	texttest.OK(t, err)
	if diff := cmp.Diff([]string{"a | knows | b", "a | built_by | b", "b | met | a"}, facts(whole[0])); diff != "" {
		t.Error(diff)
	}
}
