// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// The lengths of units and passages, in cl100k tokens. Within a budget, longer passages find fewer of the
// relevant pages, and shorter ones do not contain a whole statement: docs/systems.md has figures.
const (
	DefaultUnit    = 50
	DefaultPassage = 150
)

// CutOptions are the options of [Cut].
type CutOptions struct {
	// Unit is the largest number of tokens of a unit of several sentences, Passage the smallest of a passage; 0
	// means DefaultUnit and DefaultPassage.
	Unit, Passage int
	// Workers is the number of pages that are cut concurrently; 0 means one for each processor. The result does
	// not depend on it.
	Workers int
}

// Page is a page in units. Passage i consists of the units i to Ends[i]-1; the last units begin no passage.
type Page struct {
	Doc, Title string
	Fields     graphrag.Fields // fields of the document
	Text       string          // text without the targets of links
	Units      []Unit
	Ends       []int
}

// Defaults returns the options with the defaults in place of zero values.
func (o CutOptions) Defaults() CutOptions {
	o.Unit, o.Passage = cmp.Or(o.Unit, DefaultUnit), cmp.Or(o.Passage, DefaultPassage)
	return o
}

// Cut cuts documents into short, overlapping passages of whole sentences. Each passage has an ID of its own,
// and pages are in the order of [Page.ID]. Only the addresses of links are left out: tables, blank lines and
// lines that several pages share stay.
//
// A page is divided into units of about 50 tokens: runs of whole sentences, with a new unit at a heading unless
// the last one is short; longer sentences than 90 tokens are cut. A passage begins with a unit, and ends after
// 150 tokens or more, so passages overlap, and one has an answer in its middle. [Page.Chunk] returns a chunk of
// any run of units, so a passage that was found can be widened. A blank page has no unit.
//
// Within a budget, short passages of many pages are worth more than long ones of few pages: docs/systems.md has
// figures. Two documents with the same ID are an error.
func Cut(ctx context.Context, docs []graphrag.Document, o CutOptions) ([]Page, error) {
	c := opt.Checks{Of: "pages: cut"}
	opt.Min(&c, "Unit", o.Unit, 0)
	opt.Min(&c, "Passage", o.Passage, 0)
	opt.Min(&c, "Workers", o.Workers, 0)
	if err := c.Err(); err != nil {
		return nil, err
	}
	o = o.Defaults()
	pages := make([]Page, len(docs))
	err := par.Each(ctx, len(docs), o.Workers, func(i int) (err error) {
		p, d := &pages[i], &docs[i]
		p.Doc, p.Title, p.Fields = d.ID, d.Title, d.Fields
		if p.Text, p.Units, err = unitsOf(ctx, d.Text, o.Unit); err != nil {
			return fmt.Errorf("pages: cut page %.80q: %w", d.ID, err)
		}
		p.Ends = passageEnds(p.Units, o.Passage)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pages, func(a, b Page) int { return cmp.Compare(a.ID(), b.ID()) })
	for i := range pages {
		if i > 0 && pages[i].Doc == pages[i-1].Doc {
			return nil, fmt.Errorf("pages: two pages have the ID %.80q: make the IDs unique", pages[i].Doc)
		}
	}
	return pages, nil
}

// passageEnds returns, for each unit that begins a passage, the end of that passage, which has at least the
// given number of tokens. The last passage reaches to the end of the page; a short page is one passage.
func passageEnds(units []Unit, least int) []int {
	var out []int
	end, tokens := 0, 0
	for i := range units {
		for end < len(units) && tokens < least {
			tokens += units[end].Tokens
			end++
		}
		if tokens < least && i > 0 {
			out[i-1] = len(units) // the remaining units are too short for a passage
			break
		}
		out = append(out, end)
		tokens -= units[i].Tokens
	}
	return out
}

// ID returns the ID of the first chunk of the page.
func (p *Page) ID() string { return chunk.ID(p.Doc, 0) }

// Tokens returns the number of tokens of the units first to end-1.
func (p *Page) Tokens(first, end int) (n int) {
	for _, u := range p.Units[first:end] {
		n += u.Tokens
	}
	return n
}

// Chunk returns the units first to end-1 as a chunk.
func (p *Page) Chunk(first, end int) graphrag.Chunk {
	from, to := p.Units[first], p.Units[end-1]
	return graphrag.Chunk{
		Text: p.Text[from.Start:to.End], Start: from.From, End: to.To, Tokens: p.Tokens(first, end),
		ID: chunk.ID(p.Doc, first), Doc: p.Doc, Title: p.Title, Fields: p.Fields, Index: first,
	}
}

// led returns units of a page as a chunk whose Lead has the headings and the header of a table above them.
func led(p *Page, first, end int) graphrag.Chunk {
	c := p.Chunk(first, end)
	c.Lead = load.Lead(p.Text, p.Units[first].Start)
	return c
}

// Passages returns the passages of the page.
func (p *Page) Passages() []graphrag.Chunk {
	chunks := make([]graphrag.Chunk, len(p.Ends))
	for i, end := range p.Ends {
		chunks[i] = p.Chunk(i, end)
	}
	return chunks
}

// Tiles returns the numbers of passages that cover the page: each begins where the one before ends; only the
// last one may overlap the one before.
func (p *Page) Tiles() []int {
	var tiles []int
	end := 0
	for end < len(p.Units) {
		tiles = append(tiles, min(end, len(p.Ends)-1))
		end = p.Ends[tiles[len(tiles)-1]]
	}
	return tiles
}

// Limits in tokens that cannot be set by options.
const (
	maxSentence = 90 // a longer sentence is cut into equal parts
	minHeaded   = 20 // a heading begins a new unit if the last one has as many
	minLast     = 40 // a shorter last unit is joined with the one before
)

// Unit is a run of whole sentences.
type Unit struct {
	Start, End int // offsets in the text of its page
	From, To   int // offsets in the source document
	Tokens     int
}

// piece is a sentence, or a part of a long sentence.
type piece struct {
	Unit
	heading bool
}

// unitsOf returns the text of a page without the targets of links, and its units.
func unitsOf(ctx context.Context, source string, most int) (bare string, units []Unit, err error) {
	bare, mapping := text.StripLinks(source)
	starts, err := tokens.Cl100k().Starts(ctx, nil, bare)
	if err != nil {
		return "", nil, err
	}
	var pieces []piece
	at := 0
	for _, s := range text.Sentences(bare) {
		first := at
		for at < len(starts) && int(starts[at]) < s.End {
			at++
		}
		p := piece{Unit{Start: s.Start, End: s.End, Tokens: at - first}, bare[s.Start] == '#'}
		pieces = evenly(pieces, p, bare, starts[first:at])
	}
	for i := range pieces {
		p := &pieces[i]
		source := mapping.Span(text.Span{Start: p.Start, End: p.End})
		p.From, p.To = source.Start, source.End
	}
	return bare, pack(pieces, most), nil
}

// evenly appends a sentence; a long one is cut into parts of about the same length, between words if possible.
func evenly(pieces []piece, p piece, s string, starts []int32) []piece {
	parts := max(1, (len(starts)+maxSentence-1)/maxSentence)
	from, first := p.Start, 0
	for i := 1; i <= parts; i++ {
		to, last := p.End, len(starts)
		if i < parts {
			last = between(s, starts, i*len(starts)/parts)
			for to = int(starts[last]); to < p.End && !utf8.RuneStart(s[to]); to++ {
			}
		}
		if to <= from {
			continue
		}
		pieces = append(pieces, piece{Unit{Start: from, End: to, Tokens: last - first}, p.heading && i == 1})
		from, first = to, last
	}
	return pieces
}

// between returns the first of the eight tokens from at on that begins with white space, or at if none does.
func between(clean string, starts []int32, at int) int {
	for i := at; i < min(at+8, len(starts)); i++ {
		if c := clean[starts[i]]; c == ' ' || c == '\n' || c == '\t' {
			return i
		}
	}
	return at
}

// pack joins pieces into units of at most the given number of tokens.
func pack(pieces []piece, most int) []Unit {
	var units []Unit
	for i, p := range pieces {
		last := len(units) - 1
		if i == 0 || units[last].Tokens+p.Tokens > most || p.heading && units[last].Tokens >= minHeaded {
			units = append(units, p.Unit)
			continue
		}
		units[last].join(p.Unit)
	}
	if last := len(units) - 1; last > 0 && units[last].Tokens < minLast {
		units[last-1].join(units[last])
		units = units[:last]
	}
	return units
}

// join extends a unit by the unit after it.
func (u *Unit) join(next Unit) {
	u.End, u.To = next.End, next.To
	u.Tokens += next.Tokens
}
