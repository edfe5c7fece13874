// SPDX-License-Identifier: Apache-2.0

package find

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Pages are the texts of documents, in memory: a name that is none of theirs is not found,
// whatever path it is. They do not change, and are safe for concurrent use.
type Pages struct {
	pages  []page
	byName map[string]int
}

// page is the text of a document as its chunks have it.
type page struct {
	first graphrag.Chunk // says what it is
	text  string
	// Of the bytes from at[i] on, those of the document begin at source[i].
	at, source []int
}

// New makes pages of the chunks of documents: what overlaps is there once. Chunks of a
// document follow one another. Where texts were cleaned before they were cut, the pages are
// the cleaned ones.
func New(chunks []graphrag.Chunk) *Pages {
	p := &Pages{byName: make(map[string]int)}
	for lo, hi := 0, 0; lo < len(chunks); lo = hi {
		for hi = lo + 1; hi < len(chunks) && chunks[hi].Doc == chunks[lo].Doc; {
			hi++
		}
		p.byName[chunks[lo].Doc] = len(p.pages)
		p.pages = append(p.pages, join(chunks[lo:hi]))
	}
	return p
}

// join puts the chunks of a document together again.
func join(chunks []graphrag.Chunk) page {
	p := page{first: chunks[0], text: chunks[0].Text, at: []int{0}, source: []int{chunks[0].Start}}
	if len(chunks) == 1 {
		return p
	}
	var b strings.Builder
	b.WriteString(p.text)
	for i, c := range chunks[1:] {
		before := chunks[i]
		again := min(max(before.End-c.Start, 0), len(c.Text), len(before.Text))
		for again > 0 && !strings.HasSuffix(before.Text, c.Text[:again]) { // cleaning took bytes of it away
			again--
		}
		if c.Start > before.End { // what stood between is in no chunk
			b.WriteByte('\n')
		}
		p.at, p.source = append(p.at, b.Len()), append(p.source, c.Start+again)
		b.WriteString(c.Text[again:])
	}
	p.text = b.String()
	return p
}

// Len is the number of pages.
func (p *Pages) Len() int { return len(p.pages) }

// All returns each page whole, as a chunk, in their order.
func (p *Pages) All() []graphrag.Chunk {
	out := make([]graphrag.Chunk, len(p.pages))
	for i := range p.pages {
		out[i] = p.pages[i].chunk(0, len(p.pages[i].text), 0)
	}
	return out
}

// Passages are cut at the end of a line or a word, of so many bytes at least and at most;
// about 250 tokens.
const (
	leastPassage = 700
	mostPassage  = 1200
)

// next is where the passage that begins at from ends.
func next(text string, from int) int {
	if len(text)-from <= mostPassage {
		return len(text)
	}
	window := text[from+leastPassage : from+mostPassage]
	for _, end := range []string{"\n", ". ", " "} {
		if at := strings.LastIndex(window, end); at >= 0 {
			return from + leastPassage + at + len(end)
		}
	}
	end := from + mostPassage
	for end > from+leastPassage && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

// starts are the beginnings of the passages of a text.
func starts(text string) []int {
	out := []int{0}
	for at := next(text, 0); at < len(text); at = next(text, at) {
		out = append(out, at)
	}
	return out
}

// Read returns a passage of a page with the one before and the one after it, as one chunk,
// and the number of passages. They count from 0; a number that is too large is the last.
func (p *Pages) Read(name string, passage int) (graphrag.Chunk, int, error) {
	i, ok := p.byName[name]
	if !ok {
		return graphrag.Chunk{}, 0, fmt.Errorf("there is no page %.200q", name)
	}
	of := &p.pages[i]
	begin := starts(of.text)
	passage = min(max(passage, 0), len(begin)-1)
	end := len(of.text)
	if passage+2 < len(begin) {
		end = begin[passage+2]
	}
	return of.chunk(begin[max(passage-1, 0)], end, passage), len(begin), nil
}

// At is the passage of a page that has a place of its document; 0 of other pages.
func (p *Pages) At(name string, place int) int {
	i, ok := p.byName[name]
	if !ok {
		return 0
	}
	of := &p.pages[i]
	n, _ := slices.BinarySearch(of.source, place+1)
	at := of.at[max(n-1, 0)] + place - of.source[max(n-1, 0)]
	n, _ = slices.BinarySearch(starts(of.text), at+1)
	return max(n-1, 0)
}

// chunk is a part of the page.
func (p *page) chunk(start, end, n int) graphrag.Chunk {
	c := p.first
	c.ID, c.Index, c.Lead, c.Tokens = fmt.Sprintf("%s#p%06d", c.Doc, n), n, "", 0
	c.Text, c.Start, c.End = p.text[start:end], p.place(start), p.place(end)
	return c
}

// place is a place of the page in its document.
func (p *page) place(at int) int {
	i, ok := slices.BinarySearch(p.at, at)
	if !ok {
		i--
	}
	return p.source[i] + at - p.at[i]
}
