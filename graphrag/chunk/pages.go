// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// The lengths of units and passages, in cl100k tokens. Recall within a budget falls
// with the length of passages, and a shorter one contains no whole statement:
// docs/systems.md has figures.
const (
	DefaultUnit    = 50
	DefaultPassage = 150
)

// PageOptions are the options of [NewSite].
type PageOptions struct {
	// Unit is the most tokens of a unit of several sentences, Passage the least of a
	// passage; 0 means DefaultUnit and DefaultPassage.
	Unit, Passage int
	// Workers is how many pages are cut at a time; 0 means one for each processor.
	// The result does not depend on it.
	Workers int
}

// Page is a page without its boilerplate. Passage i goes from unit i to the one before
// Ends[i]; the last units of a page begin no passage.
type Page struct {
	Doc, Title string
	Fields     graphrag.Fields // of the document
	Text       string          // clean
	Units      []Unit
	Ends       []int
}

// Defaults returns the options with what zero stands for.
func (o PageOptions) Defaults() PageOptions {
	o.Unit, o.Passage = cmp.Or(o.Unit, DefaultUnit), cmp.Or(o.Passage, DefaultPassage)
	return o
}

// read cuts pages into sentences.
func (o PageOptions) read(ctx context.Context, docs []graphrag.Document) ([]draft, error) {
	c := opt.Checks{Of: "chunk"}
	opt.Min(&c, "Unit", o.Unit, 0)
	opt.Min(&c, "Passage", o.Passage, 0)
	opt.Min(&c, "Workers", o.Workers, 0)
	if err := c.Err(); err != nil {
		return nil, err
	}
	drafts := make([]draft, len(docs))
	err := par.Each(ctx, len(docs), o.Workers, func(i int) error {
		drafts[i] = read(docs[i].Text)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("chunk: cut pages: %w", err)
	}
	return drafts, nil
}

// cut cuts pages into units. stands tells of a sentence of page i on how many pages it stands, and
// whether that is the first.
func (o PageOptions) cut(ctx context.Context, docs []graphrag.Document, drafts []draft, stands func(i int, hash uint64) (pages int32, first bool)) ([]Page, error) {
	o = o.Defaults()
	pages := make([]Page, len(docs))
	err := par.Each(ctx, len(docs), o.Workers, func(i int) (err error) {
		d, p := &drafts[i], &pages[i]
		d.clean(func(hash uint64) (int32, bool) { return stands(i, hash) })
		p.Doc, p.Title, p.Fields = docs[i].ID, docs[i].Title, docs[i].Fields
		p.Text, p.Units, err = d.units(ctx, o.Unit)
		p.Ends = ends(p.Units, o.Passage)
		*d = draft{}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("chunk: cut pages: %w", err)
	}
	return pages, nil
}

// ends returns where the passage ends that begins at each unit and has at least so many
// tokens. The last passage reaches to the end of the page; a short page is one passage.
func ends(units []Unit, least int) []int {
	var out []int
	end, tokens := 0, 0
	for i := range units {
		for end < len(units) && tokens < least {
			tokens += units[end].Tokens
			end++
		}
		if tokens < least && i > 0 {
			out[i-1] = len(units) // what is left is too short for one of its own
			break
		}
		out = append(out, end)
		tokens -= units[i].Tokens
	}
	return out
}

// ID is that of the first chunk of the page; pages of a [Site] are in its order.
func (p *Page) ID() string { return chunkID(p.Doc, 0) }

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
		ID: chunkID(p.Doc, first), Doc: p.Doc, Title: p.Title, Fields: p.Fields, Index: first,
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

// How many pages a sentence must stand on to be boilerplate, and how many if it is
// longer than maxShort characters: long sentences are also quoted.
const (
	everywhere     = 4
	everywhereLong = 6
	maxShort       = 80
)

// draft is a page before it is divided into units.
type draft struct {
	bare      string // without links
	mapping   text.Mapping
	sentences []sentence
}

// sentence is one that may stay.
type sentence struct {
	text.Span // in the bare text
	hash      uint64
	long      bool
	first     bool // stands in the first line, and stays
}

// read cuts a page into sentences, and leaves out those without a word and those
// that the page has had before.
func read(source string) draft {
	var d draft
	d.bare, d.mapping = text.StripLinks(source)
	seen := make(map[uint64]bool)
	firstLine := -1 // where it ends
	for _, p := range text.Sentences(d.bare) {
		if firstLine < 0 {
			firstLine = len(d.bare)
			if i := strings.IndexByte(d.bare[p.Start:], '\n'); i >= 0 {
				firstLine = p.Start + i
			}
		}
		s := sentence{Span: p, first: p.Start < firstLine}
		said := p.In(d.bare)
		h := fnv.New64a()
		_, _ = io.WriteString(h, said)
		s.hash = h.Sum64()
		if seen[s.hash] || !strings.ContainsFunc(said, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			continue
		}
		seen[s.hash] = true
		s.long = utf8.RuneCountInString(said) > maxShort
		d.sentences = append(d.sentences, s)
	}
	return d
}

// clean drops the boilerplate of a page. A sentence of many pages stays on the first of
// them, so that nothing of the corpus is lost.
func (d *draft) clean(stands func(hash uint64) (pages int32, first bool)) {
	kept := d.sentences[:0]
	for _, s := range d.sentences {
		most := int32(everywhere)
		if s.long {
			most = everywhereLong
		}
		if pages, first := stands(s.hash); s.first || pages < most || first {
			kept = append(kept, s)
		}
	}
	d.sentences = kept
}

// Lengths in tokens, beside those of the options.
const (
	maxSentence = 90 // a longer one is cut evenly
	minHeaded   = 20 // from here on a heading begins a new unit
	minLast     = 40 // a shorter last unit joins the one before
)

// Unit is a run of whole sentences.
type Unit struct {
	Start, End int // in the clean text of its page
	From, To   int // in its source
	Tokens     int // without the separator to the next
}

// piece is a sentence, or a part of a long one, in the clean text.
type piece struct {
	Unit
	heading bool
}

// units returns the clean text of a page and its units.
func (d *draft) units(ctx context.Context, most int) (clean string, units []Unit, err error) {
	var b strings.Builder
	pieces := make([]piece, len(d.sentences))
	for i, s := range d.sentences {
		if i > 0 {
			b.WriteString(separator(d.bare[d.sentences[i-1].End:s.Start]))
		}
		source := d.mapping.Span(s.Span)
		pieces[i] = piece{Unit{Start: b.Len(), From: source.Start, To: source.End}, d.bare[s.Start] == '#'}
		b.WriteString(s.In(d.bare))
		pieces[i].End = b.Len()
	}
	clean = b.String()
	starts, err := tokens.Cl100k().Starts(ctx, nil, clean)
	if err != nil {
		return "", nil, err
	}
	var cut []piece
	at := 0
	for i, p := range pieces {
		first := at
		for at < len(starts) && int(starts[at]) < p.End {
			at++
		}
		p.Tokens = at - first
		if p.Tokens <= maxSentence {
			cut = append(cut, p)
			continue
		}
		cut = d.evenly(cut, p, d.sentences[i].Start, clean, starts[first:at])
	}
	return clean, pack(cut, most), nil
}

// separator is written between two sentences that stay, depending on what stood there.
func separator(gap string) string {
	switch {
	case gap == "":
		return ""
	case strings.Contains(gap, "\n"):
		return "\n"
	}
	return " "
}

// evenly cuts a long sentence, which begins at bare in the page without links, into
// parts of about the same length, between words where there are any.
func (d *draft) evenly(cut []piece, p piece, bare int, clean string, starts []int32) []piece {
	parts := (len(starts) + maxSentence - 1) / maxSentence
	from, first := p.Start, 0
	for i := 1; i <= parts; i++ {
		to, last := p.End, len(starts)
		if i < parts {
			last = between(clean, starts, i*len(starts)/parts)
			for to = int(starts[last]); to < p.End && !utf8.RuneStart(clean[to]); to++ {
			}
		}
		if to <= from {
			continue
		}
		source := d.mapping.Span(text.Span{Start: bare + from - p.Start, End: bare + to - p.Start})
		cut = append(cut, piece{Unit{from, to, source.Start, source.End, last - first}, p.heading && i == 1})
		from, first = to, last
	}
	return cut
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

// pack joins pieces into units of at most so many tokens.
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
