// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
)

// What a candidate is worth that is no whole sentence.
const (
	headlinePart = 0.9
	cutPart      = 0.7 // of one that begins or ends elsewhere
)

// shownText is a text with the text before it.
type shownText struct{ lead, title, text string }

// reading has the parts of a text that may be quoted, whatever is asked.
type reading struct {
	title  []int32 // the terms of the title
	lead   int     // bytes before the text itself
	titled bool    // the text begins with its title
	shift  int     // subtracted from an offset for one into the text
	blocks []load.Block
	// terms has the terms of each block on which other blocks depend, by its index; page has the terms of the text.
	terms  [][]int32
	page   []int32
	quotes []quotation
}

// quotation is something that may be quoted: a sentence, an item, a row, a definition, a
// line of code, a list with what leads into it.
type quotation struct {
	text    string // as it is shown, on one line
	said    string // without the names of columns
	block   int    // that contains it
	span    text.Span
	kind    load.Kind
	words   int
	quality float64 // factor for cut sentences and headings
	list    bool    // a list with what leads into it: it holds what block says
	entry   bool    // looks like an entry of a bibliography
	has     []int32 // its terms, each once, as they come
	asked   []int32 // the terms of a question of the page that it may answer
	section []int32 // the terms of the line that opens its part of a code
	// stands has the terms of what the pronoun that is its subject refers to, of which
	// before is the sentence or heading; from is where that begins, -1 for a heading.
	stands []int32
	before string
	from   int
}

// newReading reads a text. A title that is its first line is a heading and no part of the first sentence.
func newReading(from shownText, known *library) *reading {
	r := &reading{title: known.terms(from.title), shift: len(from.lead)}
	lead, s := from.lead, from.text
	if rest, ok := strings.CutPrefix(s, from.title+"\n"); ok && from.title != "" && lead == "" {
		lead, s = "# "+from.title+"\n\n", rest
		r.shift, r.titled = len(lead)-len(from.title)-1, true
	}
	r.lead = len(lead)
	if lead == "" && !strings.Contains(s, "\n") && !strings.HasPrefix(s, "#") {
		if s = strings.TrimSpace(s); s == "" {
			return r
		}
		r.blocks = []load.Block{{Text: s, Under: -1, Lead: -1, End: len(s)}}
	} else {
		r.blocks = load.Blocks(lead + s)
	}
	r.aboves(known)
	b := blockReader{reading: r, known: known}
	for i := range r.blocks {
		b.block(i)
		b.page, _ = known.first(b.page, r.blocks[i].Text, len(r.blocks[i].Text))
	}
	slices.Sort(b.page)
	r.page = slices.Clone(slices.Compact(b.page))
	r.quotes = b.own()
	return r
}

// aboves finds the terms of the blocks that other blocks depend on.
func (r *reading) aboves(known *library) {
	r.terms = make([][]int32, len(r.blocks))
	needed := make([]bool, len(r.blocks))
	for i, b := range r.blocks {
		for _, above := range [...]int{b.Under, b.Lead} {
			if above >= 0 {
				needed[above] = true
			}
		}
		needed[i] = needed[i] || b.Kind == load.Heading
	}
	for i := range needed {
		if needed[i] {
			r.terms[i] = known.terms(r.blocks[i].Text)
		}
	}
}

// blockReader makes quotes of the blocks of a text.
type blockReader struct {
	*reading
	known *library
	asked []int32 // the terms of a question that the page asked last and that is answered next
	by    int     // the heading under which it was asked
	found []quotation
	has   []int32 // the terms of all that was found
	page  []int32
	topic topic // of the last sentence
}

// own are the quotes that were found, and their terms, in memory of their size.
func (r *blockReader) own() []quotation {
	found, has := slices.Clone(r.found), slices.Clone(r.has)
	for i := range found {
		q := &found[i]
		q.has, has = has[:len(q.has):len(q.has)], has[len(q.has):]
	}
	return found
}

func (r *blockReader) block(i int) {
	b := r.blocks[i]
	if b.Kind != load.Paragraph {
		r.topic = topic{}
	}
	if b.End <= r.lead {
		if b.Kind == load.Heading {
			r.heading(i, b, false)
		}
		return // it is before the piece
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
	r.asked = nil
	plain := load.Plain(b.Text)
	if (b.End > r.lead || r.titled) && countWords(plain) <= maxOuter && !isQuestion(plain) { // it is the topic of the sentence below
		r.topic = topic{thing: plain, person: plain, shown: plain, from: -1}
	}
	if isQuestion(plain) {
		r.asked, r.by = r.terms[i], i
		return
	}
	if inside && countWords(plain) >= minHeadline && !mostlyLinks(b.Text, plain) {
		r.add(i, text.Span{End: len(b.Text)}, plain, headlinePart)
	}
}

// item adds an item of a list, and before the first one the whole list with what leads into it.
func (r *blockReader) item(i int, b load.Block) {
	first := i == 0 || r.blocks[i-1].Kind != load.Item
	if lead := b.Lead; first && (lead < 0 || r.blocks[lead].Kind != load.Item) {
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
	if b.Lead >= 0 && r.blocks[b.Lead].Kind == load.Item { // "Tomatoes: sown on 20 February"
		outer := load.Plain(r.blocks[b.Lead].Text)
		if countWords(outer) <= maxOuter {
			plain = strings.TrimRight(outer, ":. ") + ": " + plain
		}
	}
	r.add(i, text.Span{End: len(b.Text)}, plain, 1)
}

// list adds the list that begins with block i.
func (r *blockReader) list(i, lead int) {
	if lead < 0 {
		lead = r.blocks[i].Under
	}
	if lead < 0 || i-lead > 1 {
		return
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(load.Plain(r.blocks[lead].Text), ": "))
	words, last, sep := countWords(b.String()), i, ": "
	for ; last < len(r.blocks) && r.blocks[last].Kind == load.Item; last++ {
		if r.blocks[last].Level > 1 {
			return
		}
		item := load.Plain(r.blocks[last].Text)
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
	if x := r.add(lead, text.Span{End: len(r.blocks[lead].Text)}, b.String(), 1); x != nil {
		x.list, x.kind, x.span.End = true, load.Item, r.blocks[last-1].End
	}
}

// row adds a row of a table under the names of its columns.
func (r *blockReader) row(i int, b load.Block) {
	header := load.Block{}
	if b.Lead >= 0 && r.blocks[b.Lead].Kind == load.Header {
		header = r.blocks[b.Lead]
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
	if x := r.add(i, text.Span{End: len(b.Text)}, said.String(), 1); x != nil {
		x.text = out.String()
	}
}

// code adds the lines of code, comments together with the line that they are about.
func (r *blockReader) code(i int, b load.Block) {
	start := 0
	var section []int32 // of the last line that opens something
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
			section = r.known.terms(line)
		default:
			quote := strings.Join(strings.Fields(b.Text[start:end]), " ")
			if x := r.add(i, text.Span{Start: start, End: end}, quote, 1); x != nil {
				x.section = section
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
	if b.Under != r.by && r.by >= 0 && b.Under >= 0 {
		r.asked = nil
	}
	answered := false
	for _, p := range sentences(b.Text) {
		raw := p.In(b.Text)
		plain, ok := quotable(raw)
		if isQuestion(plain) {
			r.asked, r.by, answered = r.known.terms(plain), b.Under, false
		}
		if !ok || isQuestion(plain) {
			r.topic = topic{}
			continue
		}
		quality := 1.0
		if startsLow(plain) || p.End == len(b.Text) && i == len(r.blocks)-1 && !ends(plain) && countWords(plain) > minHeadline {
			quality = cutPart
		}
		if b.Kind == load.Definition && b.Lead >= 0 && p.Start == 0 {
			plain = load.Plain(r.blocks[b.Lead].Text) + ": " + plain
		}
		plain = strings.TrimPrefix(strings.TrimPrefix(plain, "A: "), "A. ")
		x := r.add(i, p, plain, quality)
		before, stands := r.topic, ""
		if r.topic, stands = before.next(plain, b.Span(p).Start); x != nil && stands != "" {
			x.stands, x.before, x.from = r.known.terms(stands), before.shown, before.from
		}
		answered = x != nil || answered
	}
	if answered { // by this paragraph, and not by the next
		r.asked = nil
	}
}

// add adds a quote, and returns it until the next one; nil if it says nothing.
func (r *blockReader) add(i int, span text.Span, said string, quality float64) *quotation {
	b := r.blocks[i]
	start := len(r.has)
	all, words := r.known.first(r.has, said, maxWords)
	if len(all) == start || words > maxWords {
		return nil
	}
	r.has = all
	q := quotation{text: said, said: said, block: i, span: b.Span(span), kind: b.Kind, words: words, quality: quality,
		entry: bibliographic(said), has: all[start:], asked: r.asked}
	r.found = append(r.found, q)
	return &r.found[len(r.found)-1]
}

// quotable returns a sentence as it would be quoted; false for other texts than prose.
func quotable(raw string) (string, bool) {
	clean := load.Plain(raw)
	if mostlyLinks(raw, clean) {
		return clean, false
	}
	clean = strings.TrimLeft(clean, "#*->+|=•_~` ")
	if caption, ok := strings.CutPrefix(clean, "Image "); ok && caption != "" && unicode.IsNumber(rune(caption[0])) {
		return clean, false // what scrapers make of an image without a caption
	}
	if strings.IndexByte(clean, '|') >= 0 {
		return clean, false // a menu in one line
	}
	letters, all := 0, 0
	for _, r := range clean {
		switch {
		case 'a' <= r|0x20 && r|0x20 <= 'z', r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r)):
			letters++
			all++
		case r != ' ':
			all++
		}
	}
	return clean, clean != "" && (float64(letters) >= minLetters*float64(all) || all < minLine && letters > 0)
}

// countWords counts the words between blanks.
func countWords(s string) (n int) {
	for range strings.FieldsSeq(s) {
		n++
	}
	return n
}

// mostlyLinks reports whether most of a text went when its links were taken out, or it is
// a cookie note, which is near them.
func mostlyLinks(raw, clean string) bool {
	return float64(len(raw)-len(clean)) > maxLinkPart*float64(len(raw)) ||
		len(clean) < maxNote && strings.Contains(strings.ToLower(clean), "cookies")
}

// isQuestion reports whether a sentence asks: it answers nothing.
func isQuestion(s string) bool { return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") }

// ends reports whether a sentence has an end.
func ends(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsPunct(r)
}

// bibliographic reports whether a sentence looks like an entry of a bibliography.
func bibliographic(s string) bool {
	n := 0
	for _, mark := range []string{"ISBN", "doi", " pp. ", " ed.", "eds.", "Retrieved", "Vol. ", "Archived", "University Press", "et al."} {
		if strings.Contains(s, mark) {
			n++
		}
	}
	return n > 1
}

// maxWrapped is the longest line, in bytes, that a break was put into to make it fit.
const maxWrapped = 120

// sentences returns the sentences of a paragraph. A line that was ended on purpose ends a sentence:
// pages that were cleaned have no blank lines, and a caption or a date, which have no full
// stop, would be one sentence with the line below.
func sentences(s string) []text.Span {
	most, end := width(s), 0
	if end = lineEnd(s, most); end == len(s) {
		return text.Sentences(s)
	}
	var out []text.Span
	for start := 0; start < len(s); start, end = end, end+lineEnd(s[end:], most) {
		for _, p := range text.Sentences(s[start:end]) {
			out = append(out, text.Span{Start: start + p.Start, End: start + p.End})
		}
	}
	return out
}

// lineEnd is where the first line of s ends that had room for the word below it, in
// lines of similar length. What begins in lower case continues the line above.
func lineEnd(s string, most int) int {
	for start := 0; ; {
		n := strings.IndexByte(s[start:], '\n')
		if n < 0 {
			return len(s)
		}
		next := start + n + 1
		word := strings.TrimLeft(s[next:], " \t\r")
		if i := strings.IndexAny(word, " \t\r\n"); i >= 0 {
			word = word[:i]
		}
		if !startsLow(word) && (most > maxWrapped || n+1+len(word) <= most) {
			return next
		}
		start = next
	}
}

// width is the length in bytes of the longest line of s.
func width(s string) (most int) {
	for line := range strings.SplitSeq(s, "\n") {
		most = max(most, len(line))
	}
	return most
}

func startsLow(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}
