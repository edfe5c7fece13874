// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Entity types of package rules that are used here.
const quantity, other = "quantity", "other"

// decorated changes the mentions and facts that an extractor found, chunk by chunk. Under a [memo.Keeper] it
// does so only if the chunk or its extraction differs from the last call.
type decorated struct {
	Extractor
	name   string
	change func(*graphrag.Chunk, *kg.Extraction)
	when   func([]graphrag.Chunk) bool // nil means for all chunks
}

// plainKey identifies the input of change. It identifies a list by its address, which no other list can have
// while the key refers to it.
type plainKey struct {
	by, title, text string
	mention         *kg.Mention
	fact            *kg.Fact
	lengths         [2]int
}

func (d decorated) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	found, err := d.Extractor.Extract(ctx, chunks)
	if err != nil || d.when != nil && !d.when(chunks) {
		return found, err
	}
	out := slices.Clone(found) // the extractor may share its result
	return out, par.Each(ctx, len(found), 0, func(i int) error {
		x := &out[i]
		key := plainKey{d.name, chunks[i].Title, chunks[i].Text, unsafe.SliceData(x.Mentions), unsafe.SliceData(x.Facts), [2]int{len(x.Mentions), len(x.Facts)}}
		changed, err := memo.Still(ctx, key, func() (x kg.Extraction, _ error) {
			x.Mentions, x.Facts = slices.Clone(found[i].Mentions), slices.Clone(found[i].Facts)
			d.change(&chunks[i], &x)
			return x, nil
		})
		x.Mentions, x.Facts = changed.Mentions, changed.Facts
		return err
	})
}

// Linked returns an extractor that adds a fact for each two neighbouring entities of a sentence that no fact
// relates; the relation is the text between them. Package rules states few facts, and a graph of these alone
// has hardly any edges.
func Linked(x Extractor) Extractor {
	return decorated{Extractor: x, name: "linked", change: relate}
}

const (
	// linkedWeight is less than 1, the weight of stated facts.
	linkedWeight = 0.5
	// maxBetween is the longest distance between two names, and maxBetweenWords the longest text between them
	// that becomes the relation, both in bytes.
	maxBetween, maxBetweenWords = 150, 60
	// mentionedWith is the relation if the text between two names is longer, or separates the cells of a table.
	mentionedWith = "is mentioned with"
)

func relate(c *graphrag.Chunk, x *kg.Extraction) {
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
		if m := &x.Mentions[i]; m.Span != (kg.Span{}) && m.Type != quantity {
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
		x.Facts = slices.Concat(x.Facts, linked) // a copy, because the list is shared
	}
}

// between returns the relation for the text between two names. Text that separates table cells is not used.
func between(s string) string {
	if strings.Contains(s, "|") {
		return mentionedWith
	}
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

// sentenceAt returns the sentence in which a span begins, the zero span if there is none.
func sentenceAt(sentences []text.Span, span kg.Span) text.Span {
	i, _ := slices.BinarySearchFunc(sentences, span.Start+1, func(s text.Span, at int) int { return cmp.Compare(s.Start, at) })
	if i == 0 || span == (kg.Span{}) || sentences[i-1].End <= span.Start {
		return text.Span{}
	}
	return sentences[i-1]
}

// Described returns an extractor that describes a mention or fact without a description by its sentence, the
// text that a model would summarize.
func Described(x Extractor) Extractor {
	return decorated{Extractor: x, name: "described", change: describe}
}

// longestSentence is the longest sentence, in bytes, that becomes a description. Tables and lists are longer.
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

// Titled returns an extractor that adds the title of a passage as an entity and, if facts is true, a fact that
// relates it to each entity of the passage: an encyclopedia's passage is about its title but writes "he" or
// "the film". Titles are added only if the chunks are [TitledPassages].
func Titled(x Extractor, facts bool) Extractor {
	return decorated{x, fmt.Sprint("titled ", facts), func(c *graphrag.Chunk, x *kg.Extraction) { addTitle(c, x, facts) }, TitledPassages}
}

// Limits of a corpus of titled passages: nine of ten documents are a single passage of at most maxTitledTokens
// tokens with a title of at most maxTitleWords words. The passages of HotpotQA, 2Wiki and MuSiQue have about a
// hundred tokens; a web page has thousands, and its title is a headline.
const (
	maxTitledTokens = 300
	maxTitleWords   = 8
	titledShare     = 0.9
)

// titleRelation is the relation of the facts that Titled adds.
const titleRelation = "mentions"

// TitledPassages reports whether a corpus consists of titled passages, such as beginnings of encyclopedia
// articles.
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
	return MostlyTitled(passages, docs)
}

// MostlyTitled reports whether a corpus of docs documents, of which passages are titled passages, counts as
// [TitledPassages].
func MostlyTitled(passages, docs int) bool {
	return docs > 0 && float64(passages) >= titledShare*float64(docs)
}

func addTitle(c *graphrag.Chunk, x *kg.Extraction, facts bool) {
	title, _, _ := strings.Cut(strings.Join(strings.Fields(c.Title), " "), " (") // without a suffix such as "(film)" of an ambiguous title
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
		if facts && !related[key] && m.Type != quantity {
			related[key] = true
			x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: title, Relation: titleRelation, Tail: m.Name}, Span: m.Span})
		}
	}
	if !named {
		m := kg.Mention{Name: title, Type: other}
		if at := strings.Index(c.Text, title); at >= 0 {
			m.Span = kg.Span{Start: at, End: at + len(title)}
		}
		x.Mentions = append(x.Mentions, m)
	}
}
