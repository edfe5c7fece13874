// SPDX-License-Identifier: Apache-2.0

package passage

import (
	"context"
	"fmt"
	"strconv"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// The lengths of units and passages, in cl100k tokens. Recall within a budget falls
// with the length of passages, and a shorter one holds no whole statement:
// docs/systems.md has figures.
const (
	DefaultUnit    = 50
	DefaultPassage = 150
)

// Options of [Cut]. The zero value is the defaults.
type Options struct {
	// Unit is the most tokens of a unit of several sentences, Passage the least of a
	// passage; 0 means DefaultUnit and DefaultPassage.
	Unit, Passage int
	// Workers is how many pages are cut at a time; 0 means one for each processor.
	// The result does not depend on it.
	Workers int
}

// Page is a page without its boilerplate. Passages begin with each unit but the last
// ones: number i goes from unit i to the one before Ends[i].
type Page struct {
	Doc, Title string
	Text       string // clean
	Units      []Unit
	Ends       []int
}

// Cut cuts pages, in the order given, which decides where boilerplate stays. Blank
// pages have no unit.
func Cut(ctx context.Context, docs []graphrag.Document, o Options) ([]Page, error) {
	c := opt.Checks{Of: "passage"}
	opt.Min(&c, "Unit", o.Unit, 0)
	opt.Min(&c, "Passage", o.Passage, 0)
	opt.Min(&c, "Workers", o.Workers, 0)
	if err := c.Err(); err != nil {
		return nil, err
	}
	if o.Unit == 0 {
		o.Unit = DefaultUnit
	}
	if o.Passage == 0 {
		o.Passage = DefaultPassage
	}
	drafts := make([]draft, len(docs))
	err := par.Each(ctx, len(docs), o.Workers, func(i int) error {
		drafts[i] = read(docs[i].Text)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("passage: cut pages: %w", err)
	}
	stands := count(drafts)
	pages := make([]Page, len(docs))
	err = par.Each(ctx, len(docs), o.Workers, func(i int) (err error) {
		d, p := &drafts[i], &pages[i]
		d.clean(i, stands)
		p.Doc, p.Title = docs[i].ID, docs[i].Title
		p.Text, p.Units, err = d.units(ctx, o.Unit)
		p.Ends = ends(p.Units, o.Passage)
		*d = draft{}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("passage: cut pages: %w", err)
	}
	return pages, nil
}

// ends finds where the passage from each unit on ends that has enough tokens. The last
// passage reaches to the end of the page; a short page is one passage.
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
		ID: p.Doc + "#" + pad(first), Doc: p.Doc, Title: p.Title, Index: first,
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

// pad writes a number with at least six digits.
func pad(n int) string {
	s := strconv.Itoa(n)
	return "000000"[min(6, len(s)):] + s
}
