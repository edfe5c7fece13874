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
	// The bytes from at[i] on come from source[i] of the document; its passages begin at
	// begin, whose last element is the end.
	at, source, begin []int
	odd               bool // a long s or a sign of the kelvin is in it, to which s and k are equal
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
		one := join(chunks[lo:hi])
		one.begin = passages(one.text)
		one.odd = strings.Contains(one.text, "\u017f") || strings.Contains(one.text, "\u212a")
		p.pages = append(p.pages, one)
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

// Passages are cut at the end of a line or a word, with a least and a largest number of
// bytes; about 250 tokens.
const (
	leastPassage = 700
	mostPassage  = 1200
)

// passages are where the passages of a text begin, and the length of it.
func passages(text string) []int {
	out := []int{0}
	for at := 0; len(text)-at > mostPassage; out = append(out, at) {
		window := text[at+leastPassage : at+mostPassage]
		cut := len(window)
		for cut > 0 && !utf8.RuneStart(text[at+leastPassage+cut]) {
			cut--
		}
		for _, end := range []string{"\n", ". ", " "} {
			if n := strings.LastIndex(window, end); n >= 0 {
				cut = n + len(end)
				break
			}
		}
		at += leastPassage + cut
	}
	return append(out, len(text))
}

// Read returns a passage of a page with the one after and the one before it, in this order, and
// the number of passages. They count from 0; a number that is too large is the last.
func (p *Pages) Read(name string, passage int) ([]graphrag.Chunk, int, error) {
	i, ok := p.byName[name]
	if !ok {
		return nil, 0, fmt.Errorf("there is no page %.200q", name)
	}
	of := &p.pages[i]
	n := len(of.begin) - 1
	passage = min(max(passage, 0), n-1)
	var out []graphrag.Chunk
	for _, i := range []int{passage, passage + 1, passage - 1} {
		if i >= 0 && i < n {
			c := of.chunk(of.begin[i], of.begin[i+1])
			c.ID = fmt.Sprintf("%s#p%06d", name, i)
			out = append(out, c)
		}
	}
	return out, n, nil
}

// At is the passage of a page that has a place of its document; 0 of other pages.
func (p *Pages) At(name string, place int) int {
	i, ok := p.byName[name]
	if !ok {
		return 0
	}
	of := &p.pages[i]
	n := lastAt(of.source, place)
	return lastAt(of.begin, of.at[n]+place-of.source[n])
}

// chunk is a part of the page, whose Index is the passage that it begins in.
func (p *page) chunk(start, end int) graphrag.Chunk {
	c := p.first
	c.Text, c.Start, c.End, c.Index, c.Lead, c.Tokens = p.text[start:end], p.place(start), p.place(end), lastAt(p.begin, start), "", 0
	return c
}

// place is a place of the page in its document.
func (p *page) place(at int) int {
	i := lastAt(p.at, at)
	return p.source[i] + at - p.at[i]
}

// lastAt is the last of some ascending places that is not behind another.
func lastAt(places []int, at int) int {
	i, _ := slices.BinarySearch(places, at+1)
	return max(i-1, 0)
}
