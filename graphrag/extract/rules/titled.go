// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// Titled adds to what an extractor finds in a passage its title as a name and, if facts
// are wanted, that it has to do with each name of the passage. A passage of an
// encyclopedia is about the thing of its title and says "he" or "the film". It does so
// if use is true, or nil and the chunks are TitledPassages.
func Titled(x extract.Extractor, facts bool, use *bool) extract.Extractor {
	return titled{x, facts, use}
}

type titled struct {
	extract.Extractor
	facts bool
	use   *bool // nil: where the corpus is one of titled passages
}

// What a corpus of titled passages is: nine documents of ten are one passage of at
// most so many tokens, under a title of so many words. The passages of HotpotQA, 2Wiki
// and MuSiQue have about a hundred tokens; a page of the web has thousands, and its
// title is a headline.
const (
	maxTitledTokens = 300
	maxTitleWords   = 8
	titledShare     = 0.9
)

// titleRelation is the label of the added facts.
const titleRelation = "mentions"

func (t titled) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	found, err := t.Extractor.Extract(ctx, chunks)
	if t.use == nil && !TitledPassages(chunks) || t.use != nil && !*t.use {
		return found, err
	}
	for i := range found {
		t.add(&found[i], &chunks[i])
	}
	return found, err
}

// TitledPassages tells whether a corpus is one of titled passages, such as the beginnings
// of the articles of an encyclopedia.
func TitledPassages(chunks []graphrag.Chunk) bool {
	docs, passages := 0, 0
	for i, c := range chunks {
		if i > 0 && chunks[i-1].Doc == c.Doc {
			continue
		}
		docs++
		alone := i+1 == len(chunks) || chunks[i+1].Doc != c.Doc
		if words := len(strings.Fields(c.Title)); alone && words > 0 && words <= maxTitleWords && c.Tokens <= maxTitledTokens {
			passages++
		}
	}
	return docs > 0 && float64(passages) >= titledShare*float64(docs)
}

func (t titled) add(x *kg.Extraction, c *graphrag.Chunk) {
	title, _, _ := strings.Cut(strings.Join(strings.Fields(c.Title), " "), " (") // which tells two pages apart
	fold := kg.FoldUnicode.Key
	if fold(title) == "" || len(strings.Fields(title)) > maxTitleWords {
		return
	}
	related := map[string]bool{fold(title): true}
	for _, f := range x.Facts {
		if fold(f.Head) == fold(title) {
			related[fold(f.Tail)] = true
		}
		if fold(f.Tail) == fold(title) {
			related[fold(f.Head)] = true
		}
	}
	named := false
	for _, m := range x.Mentions {
		key := fold(m.Name)
		named = named || key == fold(title)
		if t.facts && !related[key] && m.Type != Quantity {
			related[key] = true
			x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: title, Relation: titleRelation, Tail: m.Name}, Span: m.Span})
		}
	}
	if !named {
		m := kg.Mention{Name: title, Type: Other}
		if at := strings.Index(c.Text, title); at >= 0 {
			m.Span = kg.Span{Start: at, End: at + len(title)}
		}
		x.Mentions = append(x.Mentions, m)
	}
}
