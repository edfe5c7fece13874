// SPDX-License-Identifier: Apache-2.0

package find

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Pages holds the texts of documents in memory. Names are only looked up among these, never as paths of files.
// It is immutable and safe for concurrent use.
type Pages struct {
	pages  []page
	byName map[string]int
}

// page is the text of a document, joined from its chunks.
type page struct {
	first graphrag.Chunk // has the ID, title and fields of the document
	text  string
	// The bytes from at[i] on come from offset source[i] of the document. begin contains the start of each
	// passage, and the end of the text.
	at, source, begin []int
	odd               bool // the text contains U+017F or U+212A, which equal s and k if case is ignored
}

// New makes pages from the chunks of documents, and removes overlaps. The chunks of a document must be
// consecutive. If documents were cleaned before they were cut, pages contain the cleaned text.
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

// join joins the chunks of a document.
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
		for again > 0 && !strings.HasSuffix(before.Text, c.Text[:again]) { // the overlap is shorter where cleaning removed bytes
			again--
		}
		if c.Start > before.End { // no chunk contains the text between the two
			b.WriteByte('\n')
		}
		p.at, p.source = append(p.at, b.Len()), append(p.source, c.Start+again)
		b.WriteString(c.Text[again:])
	}
	p.text = b.String()
	return p
}

// The least and the most bytes of a passage, about 250 tokens, which ends at the end of a line or word.
const (
	leastPassage = 700
	mostPassage  = 1200
)

// passages returns the start of each passage of a text, and the length of the text.
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

// Read returns a passage of a page, the passage after and the passage before it, in this order, and the number
// of passages. They are numbered from 0; a number that is too large means the last one.
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

// At returns the number of the passage that contains an offset of the document, 0 for an unknown page.
func (p *Pages) At(name string, place int) int {
	i, ok := p.byName[name]
	if !ok {
		return 0
	}
	of := &p.pages[i]
	n := lastAt(of.source, place)
	return lastAt(of.begin, of.at[n]+place-of.source[n])
}

// chunk returns a part of the page as a chunk, whose Index is the passage in which it begins.
func (p *page) chunk(start, end int) graphrag.Chunk {
	c := p.first
	c.Text, c.Start, c.End, c.Index, c.Lead, c.Tokens = p.text[start:end], p.place(start), p.place(end), lastAt(p.begin, start), "", 0
	return c
}

// place returns the offset in the document for an offset in the page.
func (p *page) place(at int) int {
	i := lastAt(p.at, at)
	return p.source[i] + at - p.at[i]
}

// lastAt returns the index of the last place that is at most at; places are in ascending order.
func lastAt(places []int, at int) int {
	i, _ := slices.BinarySearch(places, at+1)
	return max(i-1, 0)
}

// literal is a text in small letters that is searched in any case. Its characters are ASCII or have no other
// case, so that every match has the same length; [page].odd covers the two ASCII letters with a third form.
type literal struct {
	text  string
	whole bool // the whole pattern is this literal

	in   string // text to search
	rare int    // offset in the literal of the byte that is rarest at the start of in
	hit  int    // offset of the last match found
}

// maxLiterals is the most alternatives that are searched one by one.
const maxLiterals = 8

// required returns literals of which every match of a pattern contains at least one; nil if there are none.
func required(pattern string) []literal {
	re, err := syntax.Parse("(?i)"+pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	re = re.Simplify()
	texts := parts(re)
	if len(texts) > maxLiterals {
		return nil
	}
	out := make([]literal, len(texts))
	for i, t := range texts {
		out[i] = literal{text: t}
		cased := strings.ToUpper(t) != t
		out[i].whole = re.Op == syntax.OpLiteral && (re.Flags&syntax.FoldCase != 0 || !cased) && strings.ToLower(string(re.Rune)) == t && !strings.Contains(t, "\n")
	}
	return out
}

// parts returns texts of which every match of an expression contains at least one; nil if there are none.
func parts(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if t := longest(re.Rune); t != "" {
			return []string{t}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return parts(re.Sub[0])
	case syntax.OpConcat: // the texts that are fastest to search
		var best []string
		for _, sub := range re.Sub {
			if t := parts(sub); t != nil && (best == nil || shortest(t) > shortest(best)) {
				best = t
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			t := parts(sub)
			if t == nil {
				return nil
			}
			all = append(all, t...)
		}
		return all
	}
	return nil
}

// shortest returns the length of the shortest text less the number of texts: how fast a search for them is.
func shortest(texts []string) int {
	n := len(texts[0])
	for _, t := range texts {
		n = min(n, len(t))
	}
	return n - len(texts)
}

// longest returns the longest part of a literal whose characters are ASCII or have no other case.
func longest(runes []rune) string {
	best, run := "", ""
	for _, r := range runes {
		switch {
		case r < 0x80:
			run += strings.ToLower(string(r))
		case unicode.SimpleFold(r) == r:
			run += string(r)
		default:
			run = ""
		}
		if len(run) > len(best) {
			best = run
		}
	}
	return best
}

// near is the number of bytes in which the rare byte is searched before its capital is: without this limit,
// each search in a page of capitals would read to the end. sample is the number of bytes that are counted to
// find the rare byte.
const (
	near   = 1 << 10
	sample = 4 << 10
)

// begin begins a search of a text.
func (l *literal) begin(text string) {
	l.in, l.hit = text, -1
	least := len(text) + 1
	for i := range len(l.text) {
		if n := strings.Count(text[:min(sample, len(text))], l.text[i:i+1]); n < least {
			l.rare, least = i, n
		}
	}
}

// from returns the offset of the first match at or after an offset, or the length of the text if there is none.
// Offsets must ascend from call to call.
func (l *literal) from(at int) int {
	if l.hit >= at {
		return l.hit
	}
	small := l.text[l.rare]
	capital := small
	if 'a' <= small && small <= 'z' {
		capital -= 'a' - 'A'
	}
	last := l.text[len(l.text)-1]
	l.hit = len(l.in)
	for at += l.rare; at < len(l.in); {
		part := l.in[at:min(at+near, len(l.in))]
		n := strings.IndexByte(part, small)
		if n >= 0 {
			part = part[:n]
		}
		if capital != small {
			if c := strings.IndexByte(part, capital); c >= 0 {
				n = c
			}
		}
		if n < 0 {
			at += len(part)
			continue
		}
		start := at + n - l.rare
		end := start + len(l.text)
		if end <= len(l.in) && l.in[end-1]|0x20 == last|0x20 && strings.EqualFold(l.in[start:end], l.text) { // most non-matches differ in the last byte
			l.hit = start
			break
		}
		at += n + 1
	}
	return l.hit
}
