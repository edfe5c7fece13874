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
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// The lengths of units and passages, in cl100k tokens. Recall within a budget falls with the length of
// passages, and a shorter one contains no whole statement: docs/systems.md has figures.
const (
	DefaultUnit    = 50
	DefaultPassage = 150
)

// CutOptions are the options of [Cut].
type CutOptions struct {
	// Unit is the most tokens of a unit of several sentences, Passage the least of a
	// passage; 0 means DefaultUnit and DefaultPassage.
	Unit, Passage int
	// Workers is the number of pages that are cut at a time; 0 means one for each processor.
	// The result does not depend on it.
	Workers int
}

// Page is a page in units. Passage i goes from unit i to the one before Ends[i]; the last
// units of a page begin no passage.
type Page struct {
	Doc, Title string
	Fields     graphrag.Fields // of the document
	Text       string          // without links
	Units      []Unit
	Ends       []int
}

// Defaults returns the options with the defaults of zero values.
func (o CutOptions) Defaults() CutOptions {
	o.Unit, o.Passage = cmp.Or(o.Unit, DefaultUnit), cmp.Or(o.Passage, DefaultPassage)
	return o
}

// Cut cuts documents into short, overlapping passages of whole sentences, each page by itself.
// Each has an ID of its own, and they are in the order of [Page.ID]. Only the addresses of links
// are left out: tables, blank lines and lines that several pages share stay.
//
// A page is divided into units of about 50 tokens: runs of whole sentences, with a new unit at each heading; a
// sentence of more than 90 tokens is cut evenly. A passage begins with a unit and takes further ones until it has
// 150 tokens, so passages overlap, and one of them has an answer in its middle. [Page.Chunk] returns a chunk of
// any run of units, so a passage that was found can be widened. A blank page has no unit.
//
// Within a budget, many pages by short passages are worth more than few by long ones:
// docs/systems.md has figures. Two documents of one ID are an error.
func Cut(ctx context.Context, docs []graphrag.Document, o CutOptions) ([]Page, error) {
	c := opt.Checks{Of: "chunk"}
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
			return fmt.Errorf("chunk: cut page %.80q: %w", d.ID, err)
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
			return nil, fmt.Errorf("chunk: two pages have the ID %.80q: make the IDs unique", pages[i].Doc)
		}
	}
	return pages, nil
}

// passageEnds returns the end of the passage that begins at each unit and has at least a number of
// tokens. The last passage reaches to the end of the page; a short page is one passage.
func passageEnds(units []Unit, least int) []int {
	var out []int
	end, tokens := 0, 0
	for i := range units {
		for end < len(units) && tokens < least {
			tokens += units[end].Tokens
			end++
		}
		if tokens < least && i > 0 {
			out[i-1] = len(units) // the rest is too short for a passage
			break
		}
		out = append(out, end)
		tokens -= units[i].Tokens
	}
	return out
}

// ID returns the ID of the first chunk of the page.
func (p *Page) ID() string { return chunk.ID(p.Doc, 0) }

// Tokens is the length of the units from first to the one before end.
func (p *Page) Tokens(first, end int) (n int) {
	for _, u := range p.Units[first:end] {
		n += u.Tokens
	}
	return n
}

// Chunk is the text from unit first to the one before end.
func (p *Page) Chunk(first, end int) graphrag.Chunk {
	from, to := p.Units[first], p.Units[end-1]
	return graphrag.Chunk{
		ID: chunk.ID(p.Doc, first), Doc: p.Doc, Title: p.Title, Fields: p.Fields, Index: first,
		Start: from.From, End: to.To, Text: p.Text[from.Start:to.End], Tokens: p.Tokens(first, end),
	}
}

// Passages are the passages of the page.
func (p *Page) Passages() []graphrag.Chunk {
	chunks := make([]graphrag.Chunk, len(p.Ends))
	for i, end := range p.Ends {
		chunks[i] = p.Chunk(i, end)
	}
	return chunks
}

// Tiles are the numbers of passages that cover the page: each begins where the one
// before ends, but for the last, which may overlap it.
func (p *Page) Tiles() []int {
	var tiles []int
	end := 0
	for end < len(p.Units) {
		tiles = append(tiles, min(end, len(p.Ends)-1))
		end = p.Ends[tiles[len(tiles)-1]]
	}
	return tiles
}

// Lengths in tokens that no option sets.
const (
	maxSentence = 90 // a longer one is cut evenly
	minHeaded   = 20 // from here on a heading begins a new unit
	minLast     = 40 // a shorter last unit joins the one before
)

// Unit is a run of whole sentences.
type Unit struct {
	Start, End int // in the text of its page
	From, To   int // in its source
	Tokens     int
}

// piece is a sentence, or a part of a long one.
type piece struct {
	Unit
	heading bool
}

// unitsOf returns a page without links, and its units.
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

// evenly adds a sentence, a long one in parts of about the same length, cut between words where there are any.
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

// between is the first of a few tokens from at on that begins with white space, or at.
func between(clean string, starts []int32, at int) int {
	for i := at; i < min(at+8, len(starts)); i++ {
		if c := clean[starts[i]]; c == ' ' || c == '\n' || c == '\t' {
			return i
		}
	}
	return at
}

// pack joins pieces into units of at most a number of tokens.
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

// join extends a unit to the end of the next.
func (u *Unit) join(next Unit) {
	u.End, u.To = next.End, next.To
	u.Tokens += next.Tokens
}
