// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// decorated changes the findings of an extractor, chunk by chunk.
type decorated struct {
	extract.Extractor
	change func(*graphrag.Chunk, *kg.Extraction)
	when   func([]graphrag.Chunk) bool // nil: always
}

func (d decorated) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	found, err := d.Extractor.Extract(ctx, chunks)
	if err != nil || d.when != nil && !d.when(chunks) {
		return found, err
	}
	return found, par.Each(ctx, len(found), 0, func(i int) error {
		d.change(&chunks[i], &found[i])
		return nil
	})
}

// Linked adds to the facts of an extractor those that the order of words only
// suggests: two entities that follow one another in a sentence are related, by
// the words between them. The rules of the offline extractor state few facts but
// true ones; a graph of these alone has hardly an edge to walk on.
func Linked(x extract.Extractor) extract.Extractor {
	return decorated{Extractor: x, change: link}
}

const (
	// linkedWeight sets suggested facts below stated ones.
	linkedWeight = 0.5
	// maxBetween is how far apart, in bytes, two names may stand, maxBetweenWords
	// how long the text between them may be to be the relation.
	maxBetween, maxBetweenWords = 150, 60
	// mentionedWith relates names with much text between them.
	mentionedWith = "is mentioned with"
)

func link(c *graphrag.Chunk, x *kg.Extraction) {
	pair := func(a, b string) [2]string {
		a, b = kg.FoldUnicode.Key(a), kg.FoldUnicode.Key(b)
		return [2]string{min(a, b), max(a, b)}
	}
	related := make(map[[2]string]bool)
	for _, f := range x.Facts {
		related[pair(f.Head, f.Tail)] = true
	}
	mentions := make([]*kg.Mention, 0, len(x.Mentions))
	for i := range x.Mentions {
		if m := &x.Mentions[i]; m.Span != (kg.Span{}) && m.Type != Quantity {
			mentions = append(mentions, m)
		}
	}
	slices.SortStableFunc(mentions, func(a, b *kg.Mention) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	sentences := text.Sentences(c.Text)
	var linked []kg.Fact
	for i := 1; i < len(mentions); i++ {
		a, b := mentions[i-1], mentions[i]
		both := pair(a.Name, b.Name)
		if both[0] == both[1] || related[both] || b.Span.Start < a.Span.End || b.Span.Start-a.Span.End > maxBetween {
			continue
		}
		s := sentenceAt(sentences, a.Span)
		if s.End < b.Span.End {
			continue
		}
		related[both] = true
		linked = append(linked, kg.Fact{
			Triple: graphrag.Triple{Head: a.Name, Relation: between(c.Text[a.Span.End:b.Span.Start]), Tail: b.Name},
			Weight: linkedWeight, Span: kg.Span(s),
		})
	}
	if len(linked) > 0 {
		x.Facts = slices.Concat(x.Facts, linked) // without spare capacity
	}
}

// between is a relation of the words between two names.
func between(s string) string {
	var room [maxBetweenWords]byte
	relation := room[:0]
	text.Plain().Words(s, func(w []byte) bool {
		if len(relation) > 0 {
			relation = append(relation, ' ')
		}
		relation = append(relation, w...)
		return len(relation) <= maxBetweenWords
	})
	if len(relation) == 0 || len(relation) > maxBetweenWords {
		return mentionedWith
	}
	return string(relation)
}

// sentenceAt is the sentence in which a span begins, an empty one if there is none.
func sentenceAt(sentences []text.Span, span kg.Span) text.Span {
	i, _ := slices.BinarySearchFunc(sentences, span.Start+1, func(s text.Span, at int) int { return cmp.Compare(s.Start, at) })
	if i == 0 || span == (kg.Span{}) || sentences[i-1].End <= span.Start {
		return text.Span{}
	}
	return sentences[i-1]
}

// Described gives the mentions and facts of an extractor that describes nothing
// the sentence in which they stand as their description: the source of the words that a
// model would condense.
func Described(x extract.Extractor) extract.Extractor {
	return decorated{Extractor: x, change: describe}
}

// longestSentence is the longest sentence that describes something, in bytes.
// Longer ones are tables or lists that were not cut.
const longestSentence = 600

func describe(c *graphrag.Chunk, x *kg.Extraction) {
	sentences := text.Sentences(c.Text)
	fill := func(description *string, at kg.Span) {
		if s := sentenceAt(sentences, at); *description == "" && s.End-s.Start <= longestSentence {
			*description = s.In(c.Text)
		}
	}
	for i := range x.Mentions {
		fill(&x.Mentions[i].Description, x.Mentions[i].Span)
	}
	for i := range x.Facts {
		fill(&x.Facts[i].Description, x.Facts[i].Span)
	}
}

// Titled adds the title of a passage to the findings of an extractor as a name and, if
// facts is true, a fact that relates it to each name of the passage. A passage of an
// encyclopedia is about the thing of its title and calls it "he" or "the film". The
// title is added if use is true, or nil and the chunks are [TitledPassages].
func Titled(x extract.Extractor, facts bool, use *bool) extract.Extractor {
	when := TitledPassages
	if use != nil {
		when = func([]graphrag.Chunk) bool { return *use }
	}
	return decorated{x, func(c *graphrag.Chunk, x *kg.Extraction) { addTitle(c, x, facts) }, when}
}

// The bounds of a corpus of titled passages: nine documents of ten are one passage of at
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

func addTitle(c *graphrag.Chunk, x *kg.Extraction, facts bool) {
	title, _, _ := strings.Cut(strings.Join(strings.Fields(c.Title), " "), " (") // disambiguates two pages
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
		if facts && !related[key] && m.Type != Quantity {
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
