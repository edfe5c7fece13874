// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// What prose must be like to be quoted, on pages of the web: navigation and cookie
// banners are made of links and signs.
const (
	maxWords    = 90
	minLetters  = 0.6 // share of letters among the characters that are not blank
	maxLinkPart = 0.6 // share of bytes that stripping the links takes away
	minLine     = 24  // characters under which a line need not be made of letters
	minHeadline = 5   // words of a heading that says something
	maxItem     = 40  // words of an item that is quoted whole
	maxOuter    = 8   // words of the item around a nested one that are quoted with it
	maxList     = 55  // words of a list that is quoted whole
	maxNote     = 80  // bytes of a line that is a cookie note if it says so
	maxChain    = 3   // headings above, leads before
)

// candidate is something that may be quoted: a sentence, an item, a row, a
// definition, a line of code, a list with what leads into it.
type candidate struct {
	quote string // as it is shown, on one line
	said  string // without the names of columns
	piece int    // number of the piece it stands in, in order of rank
	block int    // in the piece
	span  text.Span
	kind  load.Kind
	// The question's terms that it holds, that what it goes on from holds (the header
	// of a row, the line before a list, the question that is answered), that its
	// headings and its title hold.
	own, lead, head set

	terms   []int32 // see distinct
	sorted  bool
	words   int
	list    bool    // a list with what leads into it
	answers bool    // what the page asks before it
	quality float64 // factor for what is cut, or a heading
}

// distinct are the terms of a candidate, rising. Most candidates are never asked.
func (x *candidate) distinct() []int32 {
	if !x.sorted {
		slices.Sort(x.terms)
		x.terms, x.sorted = slices.Compact(x.terms), true
	}
	return x.terms
}

// piece is a text that candidates stand in: a chunk, or derived text.
type piece struct {
	evidence int // index into the evidence, -1 of derived text
	derived  int // index into the derived texts
	doc      string
	lead     int // bytes before the text itself
	shift    int // what is taken from an offset to have one into the text
	title    set
	blocks   []load.Block
	sets     []set // of blocks that others stand under or go on from
}

// corpus are the candidates of all evidence, and the memory for those of the next.
type corpus struct {
	lexicon    *lexicon
	q          *question
	pieces     []piece
	candidates []candidate
	sets       []set
	scores     []float64
}

// collect reads all material. The one error is that of ctx.
func (c *corpus) collect(ctx context.Context, question string, evidence []graphrag.Hit, derived []graphrag.Derived) error {
	c.q = newQuestion(question, c.lexicon)
	for i, h := range evidence {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.read(h.Chunk.Lead, h.Chunk.Title, h.Chunk.Text, piece{evidence: i, doc: h.Chunk.Doc, title: c.set(h.Chunk.Title)})
	}
	for i, d := range derived {
		if err := ctx.Err(); err != nil {
			return err
		}
		heading := min(max(d.Heading, 0), len(d.Text))
		c.read("", "", d.Text[heading:], piece{evidence: -1, doc: strings.Join(d.Docs, " "), derived: i, title: c.set(d.Text[:heading])})
	}
	var df [maxTerms]int
	for i := range c.candidates {
		for own := c.candidates[i].own; own != 0; own &= own - 1 {
			df[own.first()]++
		}
	}
	c.q.weigh(&df, len(c.candidates))
	return ctx.Err()
}

// reset forgets what was read and keeps the memory.
func (c *corpus) reset() {
	clear(c.pieces)
	clear(c.candidates)
	c.pieces, c.candidates, c.sets, c.scores = c.pieces[:0], c.candidates[:0], c.sets[:0], c.scores[:0]
	c.lexicon.reset()
}

// asked are the question's terms among terms.
func (c *corpus) asked(terms []int32) (s set) {
	for _, t := range terms {
		if int(t) < c.q.terms {
			s |= 1 << t
		}
	}
	return s
}

// set are the question's terms in s.
func (c *corpus) set(s string) set {
	if s == "" {
		return 0
	}
	terms := c.lexicon.read(s, len(s))
	defer c.lexicon.forget(terms)
	return c.asked(terms)
}

// rarity is the weight of a term that df of n texts have: that of BM25, which stays
// positive, dampened.
func rarity(df, n float64) float64 { return math.Pow(math.Log(1+(n-df+0.5)/(df+0.5)), 0.7) }

// read adds the candidates of one text, which goes on from lead. A title that is its
// first line is a heading and no part of the first sentence.
func (c *corpus) read(lead, title, s string, p piece) {
	p.shift = len(lead)
	if rest, ok := strings.CutPrefix(s, title+"\n"); ok && title != "" && lead == "" {
		lead, s = "# "+title+"\n\n", rest
		p.shift = len(lead) - len(title) - 1
	}
	p.lead = len(lead)
	if lead == "" && !strings.Contains(s, "\n") && !strings.HasPrefix(s, "#") {
		if s = strings.TrimSpace(s); s == "" {
			return
		}
		p.blocks = []load.Block{{Text: s, Under: -1, Lead: -1, End: len(s)}}
	} else {
		p.blocks = load.Blocks(lead + s)
	}
	p.sets = c.setsOf(p.blocks)
	c.pieces = append(c.pieces, p)
	r := blockReader{c: c, p: &c.pieces[len(c.pieces)-1], piece: len(c.pieces) - 1}
	for i := range p.blocks {
		r.block(i)
	}
}

// setsOf are the question's terms of the blocks that others stand under or go on from;
// of the other blocks they are empty.
func (c *corpus) setsOf(blocks []load.Block) []set {
	start := len(c.sets)
	c.sets = append(c.sets, make([]set, len(blocks))...)
	sets := c.sets[start:]
	const needed = set(1) << maxTerms // no term has this bit
	for i, b := range blocks {
		for _, above := range [...]int{b.Under, b.Lead} {
			if above >= 0 {
				sets[above] = needed
			}
		}
		if b.Kind == load.Heading {
			sets[i] = needed
		}
	}
	for i := range sets {
		if sets[i] == needed {
			sets[i] = c.set(blocks[i].Text)
		}
	}
	return sets
}

// blockReader makes candidates of the blocks of a piece.
type blockReader struct {
	c     *corpus
	p     *piece
	piece int
	asked set // of a question that the page asked last and that is answered next
	by    int // the heading under which it was asked
}

func (r *blockReader) block(i int) {
	b := r.p.blocks[i]
	if b.End <= r.p.lead {
		if b.Kind == load.Heading {
			r.heading(i, b, false)
		}
		return // it stands before the piece
	}
	switch b.Kind {
	case load.Heading:
		r.heading(i, b, true)
	case load.Header:
	case load.Row:
		r.row(i, b)
	case load.Code:
		r.code(i, b)
	case load.Term:
	case load.Meta:
		r.add(i, text.Span{End: len(b.Text)}, load.Plain(b.Text), 1)
	case load.Item:
		r.item(i, b)
	default:
		r.prose(i, b)
	}
}

// heading adds a heading that is a headline; one that asks is answered by what follows.
func (r *blockReader) heading(i int, b load.Block, inside bool) {
	r.asked = 0
	plain := load.Plain(b.Text)
	if isQuestion(plain) {
		r.asked, r.by = r.p.sets[i], i
		return
	}
	if inside && countWords(plain) >= minHeadline && !mostlyLinks(b.Text, plain) {
		r.add(i, text.Span{End: len(b.Text)}, plain, headlinePart)
	}
}

// item adds an item of a list, and before the first one the whole list with what
// leads into it.
func (r *blockReader) item(i int, b load.Block) {
	first := i == 0 || r.p.blocks[i-1].Kind != load.Item
	if lead := b.Lead; first && (lead < 0 || r.p.blocks[lead].Kind != load.Item) {
		r.list(i, lead)
	}
	if countWords(b.Text) > maxItem || lineEnd(b.Text, width(b.Text)) < len(b.Text) {
		r.prose(i, b)
		return
	}
	plain := load.Plain(b.Text)
	if mostlyLinks(b.Text, plain) {
		return
	}
	if b.Lead >= 0 && r.p.blocks[b.Lead].Kind == load.Item { // "Tomatoes: sown on 20 February"
		outer := load.Plain(r.p.blocks[b.Lead].Text)
		if countWords(outer) <= maxOuter {
			plain = strings.TrimRight(outer, ":. ") + ": " + plain
		}
	}
	r.add(i, text.Span{End: len(b.Text)}, plain, 1)
}

// list adds the list that begins with block i.
func (r *blockReader) list(i, lead int) {
	if lead < 0 {
		lead = r.p.blocks[i].Under
	}
	if lead < 0 || i-lead > 1 {
		return
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(load.Plain(r.p.blocks[lead].Text), ": "))
	words, last, sep := countWords(b.String()), i, ": "
	for ; last < len(r.p.blocks) && r.p.blocks[last].Kind == load.Item; last++ {
		if r.p.blocks[last].Level > 1 {
			return
		}
		item := load.Plain(r.p.blocks[last].Text)
		if words += countWords(item); words > maxList {
			return
		}
		b.WriteString(sep + item)
		sep = "; "
		if strings.HasSuffix(item, ".") {
			sep = " "
		}
	}
	if last-i < 2 {
		return
	}
	r.add(lead, text.Span{End: len(r.p.blocks[lead].Text)}, b.String(), 1)
	if n := len(r.c.candidates); n > 0 && r.c.candidates[n-1].quote == b.String() {
		x := &r.c.candidates[n-1]
		x.list, x.kind, x.span.End = true, load.Item, r.p.blocks[last-1].End
		x.own = r.p.sets[lead]
	}
}

// row adds a row of a table under the names of its columns.
func (r *blockReader) row(i int, b load.Block) {
	header := load.Block{}
	if b.Lead >= 0 && r.p.blocks[b.Lead].Kind == load.Header {
		header = r.p.blocks[b.Lead]
	}
	var out, said strings.Builder
	for column := range b.Cells {
		cell := b.Cell(column)
		if cell == "" {
			continue
		}
		said.WriteString(cell + "\n")
		if out.Len() > 0 {
			out.WriteString("; ")
		}
		if name := header.Cell(column); name != "" && len(b.Cells) > 1 {
			out.WriteString(name + ": ")
		}
		out.WriteString(cell)
	}
	if r.add(i, text.Span{End: len(b.Text)}, said.String(), 1) {
		r.c.candidates[len(r.c.candidates)-1].quote = out.String()
	}
}

// code adds the lines of code, comments together with the line that they are about.
func (r *blockReader) code(i int, b load.Block) {
	start := 0
	var section set // of the last line that opens something
	for at := 0; at < len(b.Text); {
		end := at + len(b.Text[at:])
		if n := strings.IndexByte(b.Text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		line := strings.TrimSpace(b.Text[at:end])
		at = end
		switch {
		case line == "" || isComment(line) && at < len(b.Text):
			if line == "" {
				start = at
			}
			continue
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = r.c.set(line)
		default:
			quote := strings.Join(strings.Fields(b.Text[start:end]), " ")
			if r.add(i, text.Span{Start: start, End: end}, quote, 1) {
				r.c.candidates[len(r.c.candidates)-1].lead |= section
			}
		}
		start = at
	}
}

func isComment(line string) bool {
	return strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "--") || strings.HasPrefix(line, ";")
}

// prose adds the sentences of a paragraph, a definition or a long item.
func (r *blockReader) prose(i int, b load.Block) {
	if r.asked != 0 && b.Under != r.by && r.by >= 0 && b.Under >= 0 {
		r.asked = 0
	}
	answered := false
	for _, p := range sentences(b.Text) {
		raw := p.In(b.Text)
		plain, ok := quotable(raw)
		if isQuestion(plain) {
			r.asked, r.by, answered = r.c.set(plain), b.Under, false
			continue
		}
		if !ok {
			continue
		}
		quality := 1.0
		if startsLow(plain) || p.End == len(b.Text) && i == len(r.p.blocks)-1 && !ends(plain) && countWords(plain) > minHeadline {
			quality = cutPart
		}
		if b.Kind == load.Definition && b.Lead >= 0 && p.Start == 0 {
			plain = load.Plain(r.p.blocks[b.Lead].Text) + ": " + plain
		}
		plain = strings.TrimPrefix(strings.TrimPrefix(plain, "A: "), "A. ")
		answered = r.add(i, p, plain, quality) || answered
	}
	if answered { // by this paragraph, and not by the next
		r.asked = 0
	}
}

// add adds a candidate; false if it says nothing.
func (r *blockReader) add(i int, span text.Span, quote string, quality float64) bool {
	b := r.p.blocks[i]
	terms := r.c.lexicon.read(quote, maxWords)
	words := r.c.lexicon.words
	if len(terms) == 0 || words > maxWords {
		r.c.lexicon.forget(terms)
		return false
	}
	x := candidate{quote: quote, said: quote, piece: r.piece, block: i, kind: b.Kind, own: r.c.asked(terms), terms: terms, words: words, quality: quality}
	x.span = b.Span(span)
	for l, n := b.Lead, 0; l >= 0 && n < maxChain; l, n = r.p.blocks[l].Lead, n+1 {
		x.lead |= r.p.sets[l]
	}
	x.lead |= r.asked
	x.answers = r.asked != 0
	for h, n := b.Under, 0; h >= 0 && n < maxChain; h, n = r.p.blocks[h].Under, n+1 {
		x.head |= r.p.sets[h]
	}
	x.head |= r.p.title
	r.c.candidates = append(r.c.candidates, x)
	return true
}
