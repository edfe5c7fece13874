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

// Conditions for quoting prose from web pages: navigation and cookie banners consist of links and symbols.
const (
	maxWords    = 90
	minLetters  = 0.6 // least share of letters among the characters other than blanks
	maxLinkPart = 0.6 // largest share of bytes that belong to the targets of links
	minLine     = 24  // number of characters below which minLetters does not apply
	minHeadline = 5   // least number of words of a heading that is quoted
	maxItem     = 40  // largest number of words of a list item that is quoted whole
	maxOuter    = 8   // largest number of words of an outer item that is quoted before a nested one
	maxList     = 55  // largest number of words of a list that is quoted whole
	maxNote     = 80  // bytes below which a line that mentions cookies is not quoted
)

// Factors for quotes that are not whole sentences.
const (
	headlinePart = 0.9
	cutPart      = 0.7 // for a sentence whose beginning or end is missing
)

// shownText is a text to read, with its title and the lines before it.
type shownText struct{ lead, title, text string }

// reading holds the parts of a text that may be quoted, independent of the question.
type reading struct {
	title  []int32 // terms of the title
	lead   int     // number of bytes before the text itself
	titled bool    // the text begins with its title
	shift  int     // difference between offsets in the parsed text and in the text
	blocks []load.Block
	// terms has the terms of each block on which other blocks depend, by the index of the block; page has those
	// of the text.
	terms  [][]int32
	page   []int32
	quotes []quotation
}

// quotation is a text that may be quoted: a sentence, an item, a row, a definition, a line of code, or a list
// with the line before it.
type quotation struct {
	text    string // text as it is quoted, on one line
	said    string // text without the names of columns
	block   int    // index of the block that contains it
	span    text.Span
	kind    load.Kind
	words   int
	quality float64 // factor for cut sentences and headings
	list    bool    // it is a list with the line before it, which is the block
	entry   bool    // looks like an entry of a bibliography
	has     []int32 // its terms, in the order of the text, each once
	asked   []int32 // terms of the question before it on the page that it may answer
	section []int32 // terms of the section header of configuration code
	// stands has the terms to which the pronoun that is its subject refers, before is the sentence or heading
	// with these terms, and from the offset of that, -1 for a heading.
	stands []int32
	before string
	from   int
}

// newReading parses a text. If its first line is the title, it is a heading and not part of the first sentence.
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

// aboves computes the terms of the blocks on which other blocks depend.
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

// blockReader makes quotations from the blocks of a text.
type blockReader struct {
	*reading
	known *library
	asked []int32 // terms of the last question on the page, if the answer may follow
	by    int     // index of the heading above that question
	found []quotation
	has   []int32 // terms of all quotations
	page  []int32
	topic topic // topic of the last sentence
}

// own returns copies of the quotations and their terms that use no more memory than they need.
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
		return // the block is in the lead, which is not quoted
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

// heading adds a heading that is a headline. If the heading is a question, the text after it may answer it.
func (r *blockReader) heading(i int, b load.Block, inside bool) {
	r.asked = nil
	plain := load.Plain(b.Text)
	if (b.End > r.lead || r.titled) && countWords(plain) <= maxOuter && !isQuestion(plain) { // the next sentence may refer to it by a pronoun
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

// item adds an item of a list, and, with the first item, the whole list and the line before it.
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

// list adds the list that begins at block i, with the block lead before it.
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

// row adds a row of a table, each cell after the name of its column.
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

// code adds the lines of code; comments are quoted with the line after them.
func (r *blockReader) code(i int, b load.Block) {
	start := 0
	var section []int32 // terms of the last line in brackets, such as [server]
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
	if answered { // the question was answered in this paragraph
		r.asked = nil
	}
}

// add adds a quotation, and returns it; it is valid until the next call. It returns nil for a text without
// terms or with too many words.
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

// quotable returns a sentence as it is quoted, and false if it is not prose.
func quotable(raw string) (string, bool) {
	clean := load.Plain(raw)
	if mostlyLinks(raw, clean) {
		return clean, false
	}
	clean = strings.TrimLeft(clean, "#*->+|=•_~` ")
	if caption, ok := strings.CutPrefix(clean, "Image "); ok && caption != "" && unicode.IsNumber(rune(caption[0])) {
		return clean, false // scrapers write this for an image without a caption
	}
	if strings.IndexByte(clean, '|') >= 0 {
		return clean, false // it looks like a menu on one line
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

// countWords returns the number of words separated by white space.
func countWords(s string) (n int) {
	for range strings.FieldsSeq(s) {
		n++
	}
	return n
}

// mostlyLinks reports whether most of a text consists of the targets of links, or it is a note about cookies.
func mostlyLinks(raw, clean string) bool {
	return float64(len(raw)-len(clean)) > maxLinkPart*float64(len(raw)) ||
		len(clean) < maxNote && strings.Contains(strings.ToLower(clean), "cookies")
}

// isQuestion reports whether a sentence is a question, which cannot be an answer.
func isQuestion(s string) bool { return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") }

// ends reports whether a sentence ends with punctuation.
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

// maxWrapped is a length in bytes: in a text with a longer line, line breaks are not from wrapping.
const maxWrapped = 120

// sentences returns the sentences of a paragraph. A line break that is not from wrapping ends a sentence:
// cleaned pages have no blank lines, and a caption or a date without a full stop would be joined with the next
// line.
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

// lineEnd returns the end of the first line of s with a deliberate break: the next word would have fit into the
// line, and does not begin in lower case.
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

// width returns the length in bytes of the longest line of s.
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
