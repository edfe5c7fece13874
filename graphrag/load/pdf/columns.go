// SPDX-License-Identifier: Apache-2.0

package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
)

// page is the text of a page in the order of the file, which often is from top to bottom across all columns.
type page struct {
	parser pdfium.Pdfium
	ref    references.FPDF_TEXTPAGE
	chars  []uint16 // as the parser counts characters
	err    error    // of a call that failed: the order of the file stays
}

// box is a piece of a line: its place, and the characters, from from to to.
type box struct {
	left, right, top, bottom float64
	from, to                 int
}

func (b box) high() float64 { return b.top - b.bottom }

func (b *box) add(c box) {
	b.left, b.right, b.top, b.bottom = min(b.left, c.left), max(b.right, c.right), max(b.top, c.top), min(b.bottom, c.bottom)
	b.to = max(b.to, c.to)
}

// level reports whether two boxes are on about the same line.
func (b box) level(c box) bool {
	return 2*(min(b.top, c.top)-max(b.bottom, c.bottom)) >= min(b.high(), c.high())
}

// beside reports whether two boxes are on the same line, with a gap as wide as the line is high.
func (b box) beside(c box) bool {
	return b.level(c) && max(c.left-b.right, b.left-c.right) >= min(b.high(), c.high())
}

// Limits of columns: lines in each; the greatest distance between lines in line heights, and if the lower line
// is alone; pieces of lines. To find a page with columns, some of each sampledOf characters are looked at.
const (
	leastLines = 4
	maxStep    = 2.5
	maxAlone   = 1.6
	maxPieces  = 2000
	sampled    = 96
	sampledOf  = 3 * sampled
)

// textOf returns the text of a page, with columns one after the other.
func textOf(parser pdfium.Pdfium, of requests.Page) (string, error) {
	open, err := parser.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: of})
	if err != nil {
		return "", err
	}
	p := &page{parser: parser, ref: open.TextPage}
	count, err := parser.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: p.ref})
	if err != nil {
		return "", err
	}
	all, err := parser.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: p.ref, Count: count.Count})
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(all.Text, "\x00")
	p.chars = utf16.Encode([]rune(text))
	if p.hasGaps() {
		if ordered := p.inOrder(); p.err == nil {
			text = ordered
		}
	}
	_, err = parser.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: p.ref})
	return text, err
}

// box returns the place of a character.
func (p *page) box(i int) box {
	at, err := p.parser.FPDFText_GetCharIndexFromTextIndex(&requests.FPDFText_GetCharIndexFromTextIndex{TextPage: p.ref, NTextIndex: i})
	if err == nil {
		var loose *responses.FPDFText_GetLooseCharBox
		if loose, err = p.parser.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: p.ref, Index: at.CharIndex}); err == nil {
			of := loose.Rect
			return box{float64(of.Left), float64(of.Right), float64(of.Top), float64(of.Bottom), i, i + 1}
		}
	}
	p.err = err
	return box{from: i, to: i + 1}
}

// text returns the characters from from to to.
func (p *page) text(from, to int) string { return string(utf16.Decode(p.chars[from:to])) }

// next returns the limits of the word that begins at or after i. A hyphen at the end of a line ends a word.
func (p *page) next(i int) (from, to int) {
	for i < len(p.chars) && ends(p.chars[i]) {
		i++
	}
	for from = i; i < len(p.chars) && !ends(p.chars[i]); i++ {
	}
	return from, i
}

// ends reports whether a character ends a word.
func ends(c uint16) bool { return unicode.IsSpace(rune(c)) || isHyphen(c) }

// isHyphen reports whether the parser writes the character for a hyphen at the end of a line.
func isHyphen(c uint16) bool { return c == '\x02' || c == '\ufffe' }

// hasGaps reports whether words are beside each other, by a third of the words.
func (p *page) hasGaps() bool {
	_, end := p.next(0)
	for {
		from, to := p.next(end)
		if from == len(p.chars) {
			return false
		}
		if end%sampledOf < sampled && p.box(end-1).beside(p.box(from)) {
			return true
		}
		end = to
	}
}

// pieces returns the parts of lines between gaps.
func (p *page) pieces() (out []box) {
	var b box
	for from, to := p.next(0); from < len(p.chars); from, to = p.next(to) {
		first, last := p.box(from), p.box(to-1)
		if n := len(out); n > 0 && b.level(first) && math.Abs(first.left-b.right) < .6*b.high() {
			out[n-1].add(first)
		} else {
			out = append(out, first)
		}
		out[len(out)-1].add(last)
		b = last
	}
	return out
}

// inOrder returns the text with columns one after the other.
func (p *page) inOrder() string {
	var out strings.Builder
	pieces, written := p.pieces(), 0
	for i := 0; i+1 < len(pieces); i++ {
		if !pieces[i].beside(pieces[i+1]) {
			continue
		}
		columns, n := together(pieces[i:])
		end := len(p.chars)
		if i+n < len(pieces) {
			end = pieces[i+n].from
		}
		if text := p.columns(columns, pieces[i:i+n]); text != "" {
			out.WriteString(p.text(written, pieces[i].from) + text)
			written = end
		}
		i += n - 1
	}
	return out.String() + p.text(written, len(p.chars))
}

// together returns the number of pieces, from the first two on, that follow one another from top to bottom with
// a gap in common, and the columns between such gaps.
func together(pieces []box) (columns []box, n int) {
	lowest := pieces[0].top
	for n, b := range pieces {
		most := maxAlone
		if n+1 < len(pieces) && b.beside(pieces[n+1]) || n > 0 && b.beside(pieces[n-1]) {
			most = maxStep
		}
		if lowest-b.top > most*b.high() {
			return columns, n
		}
		lowest = min(lowest, b.top)
		wider := append(slices.Clone(columns), b)
		slices.SortFunc(wider, func(a, b box) int { return cmp.Compare(a.left, b.left) })
		k := 0
		for _, c := range wider[1:] {
			if 2*(c.left-wider[k].right) < b.high() {
				wider[k].add(c)
			} else {
				k++
				wider[k] = c
			}
		}
		if n > 0 && k == 0 {
			return columns, n
		}
		columns = wider[:k+1]
	}
	return columns, len(pieces)
}

// line is a line of a column; begins tells whether a paragraph begins with it.
type line struct {
	box
	text   string
	begins bool
}

// columns returns the text of pieces column by column; "" if they are not columns of prose. Rows of a table are
// not: they begin in all columns.
func (p *page) columns(columns, pieces []box) string {
	if len(pieces) > maxPieces {
		return ""
	}
	pieces = slices.Clone(pieces)
	slices.SortStableFunc(pieces, func(a, b box) int { return cmp.Compare(b.top, a.top) })
	lines := make([][]line, len(columns))
	for _, b := range pieces {
		text := p.text(b.from, b.to)
		if b.to < len(p.chars) && isHyphen(p.chars[b.to]) {
			text += "-"
		}
		k := slices.IndexFunc(columns, func(c box) bool { return c.left <= b.left && b.right <= c.right })
		if n := len(lines[k]); n > 0 && lines[k][n-1].level(b) {
			l := &lines[k][n-1]
			if b.left < l.left {
				l.text, text = text, l.text
			}
			l.text += " " + text
			l.add(b)
			continue
		}
		lines[k] = append(lines[k], line{b, text, false})
	}
	var out strings.Builder
	for _, of := range lines {
		if !isProse(of) {
			return ""
		}
		for i, l := range of {
			end := len(strings.TrimSuffix(l.text, "-"))
			if c, _ := utf8.DecodeLastRuneInString(l.text[:end]); i+1 < len(of) && end < len(l.text) && unicode.IsLetter(c) {
				l.text = l.text[:end] + "\x02"
			}
			out.WriteString(l.text + "\r\n")
		}
	}
	count, facing, rows := 0, 0, 0 // lines, those with one beside them, and of these the beginnings of rows
	for k, of := range lines {
		for _, l := range of {
			faces, row := 0, l.begins
			for m := range lines {
				for _, other := range lines[m] {
					if m != k && l.level(other.box) {
						faces, row = 1, row && other.begins
					}
				}
			}
			if count++; faces > 0 && row {
				rows++
			}
			facing += faces
		}
	}
	if facing < leastLines*2 || 6*rows > count {
		return ""
	}
	return out.String()
}

// isProse reports whether lines are long, mostly about as wide as the column, and often begin within a sentence.
// It finds the other lines that begin a paragraph: after a short line or the end of a sentence.
func isProse(lines []line) bool {
	left, right, bytes, wide, within := math.Inf(1), math.Inf(-1), 0, 0, 0
	for _, l := range lines {
		left, right, bytes = min(left, l.left), max(right, l.right), bytes+len(l.text)
	}
	for i, l := range lines {
		if l.right-l.left >= .6*(right-left) {
			wide++
		}
		first, _ := utf8.DecodeRuneInString(l.text)
		switch {
		case i == 0:
		case unicode.IsLetter(first) && !unicode.IsUpper(first) && !unicode.In(first, unicode.Hebrew, unicode.Arabic):
			within++
		default:
			above := lines[i-1]
			lines[i].begins = right-above.right > .2*(right-left) || strings.ContainsAny(above.text[len(above.text)-1:], ".!?:;")
		}
	}
	n := len(lines)
	return n > 2 && bytes >= 15*n && 3*wide >= 2*n && 3*within >= n-1
}
