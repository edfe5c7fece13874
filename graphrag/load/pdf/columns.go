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
)

// lineHyphens are the characters that the parser writes for a hyphen at the end of a line.
const lineHyphens = "\x02\ufffe"

// Limits of columns.
const (
	leastLines = 4    // lines of each column that are level with a line of another column
	maxStep    = 2.5  // distance to the line above, in line heights, if another piece is on the same line
	maxAlone   = 1.6  // the same if none is
	maxPieces  = 2000 // pieces of lines
	sampled    = 96   // a gap is sought in these of each 3*sampled characters
)

// page is the text of a page in the order of the file, which often is from top to bottom across all columns.
type page struct {
	parser pdfium.Pdfium
	ref    references.FPDF_TEXTPAGE
	chars  []uint16 // as the parser counts characters
	err    error    // of a call that failed: the order of the file stays
}

// piece is a part of a line: its place, its first character, and its text.
type piece struct {
	left, right, top, bottom float64
	from                     int
	text                     string
	begins                   bool // a paragraph begins with the line
}

func (b piece) high() float64 { return b.top - b.bottom }

// add extends a piece by one that follows.
func (b *piece) add(c piece) {
	b.left, b.right, b.top, b.bottom = min(b.left, c.left), max(b.right, c.right), max(b.top, c.top), min(b.bottom, c.bottom)
	b.text += " " + c.text
}

// level reports whether two pieces are on about the same line.
func (b piece) level(c piece) bool {
	return 2*(min(b.top, c.top)-max(b.bottom, c.bottom)) >= min(b.high(), c.high())
}

// gap reports whether two pieces are on the same line, with a gap as wide as the line is high.
func (b piece) gap(c piece) bool {
	return b.level(c) && max(c.left-b.right, b.left-c.right) >= min(b.high(), c.high())
}

// pageText returns the text of a page, column by column.
func pageText(parser pdfium.Pdfium, of requests.Page) (string, error) {
	open, err := parser.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: of})
	if err != nil {
		return "", err
	}
	count, err := parser.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: open.TextPage})
	if err != nil {
		return "", err
	}
	all, err := parser.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: open.TextPage, Count: count.Count})
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(all.Text, "\x00")
	p := &page{parser: parser, ref: open.TextPage, chars: utf16.Encode([]rune(text))}
	words, gap := p.words(), false
	for i := 1; i < len(words) && !gap; i++ {
		gap = words[i][0]%(3*sampled) < sampled && p.char(words[i-1][1]-1).gap(p.char(words[i][0]))
	}
	if gap {
		if ordered := p.ordered(p.pieces(words)); p.err == nil {
			text = ordered
		}
	}
	_, err = parser.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: p.ref})
	return text, err
}

// char returns the place of a character.
func (p *page) char(i int) piece {
	at, err := p.parser.FPDFText_GetCharIndexFromTextIndex(&requests.FPDFText_GetCharIndexFromTextIndex{TextPage: p.ref, NTextIndex: i})
	if err == nil {
		box, failed := p.parser.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: p.ref, Index: at.CharIndex})
		if err = failed; err == nil {
			of := box.Rect
			return piece{left: float64(of.Left), right: float64(of.Right), top: float64(of.Top), bottom: float64(of.Bottom)}
		}
	}
	p.err = err
	return piece{}
}

// text returns the characters from from to to.
func (p *page) text(from, to int) string { return string(utf16.Decode(p.chars[from:to])) }

// words returns the limits of the words. A hyphen at the end of a line ends a word.
func (p *page) words() (out [][2]int) {
	from := 0
	for i, c := range append(p.chars[:len(p.chars):len(p.chars)], ' ') {
		if unicode.IsSpace(rune(c)) || strings.ContainsRune(lineHyphens, rune(c)) {
			if i > from {
				out = append(out, [2]int{from, i})
			}
			from = i + 1
		}
	}
	return out
}

// pieces returns the parts of lines between gaps.
func (p *page) pieces(words [][2]int) (out []piece) {
	var last piece
	for _, w := range words {
		b := p.char(w[0])
		b.from, b.text = w[0], p.text(w[0], w[1])
		if w[1] < len(p.chars) && strings.ContainsRune(lineHyphens, rune(p.chars[w[1]])) {
			b.text += "-"
		}
		n := len(out)
		if n > 0 && last.level(b) && math.Abs(b.left-last.right) < .6*last.high() {
			out[n-1].add(b)
		} else {
			out = append(out, b)
			n++
		}
		last = p.char(w[1] - 1)
		out[n-1].right = max(out[n-1].right, last.right)
	}
	return out
}

// ordered returns the text column by column.
func (p *page) ordered(pieces []piece) string {
	var out strings.Builder
	kept := 0 // offset of the text that is not written yet
	for i := 0; i+1 < len(pieces); i++ {
		if !pieces[i].gap(pieces[i+1]) {
			continue
		}
		columns, n := together(pieces[i:])
		end := len(p.chars)
		if i+n < len(pieces) {
			end = pieces[i+n].from
		}
		if text := byColumn(columns, pieces[i:i+n]); text != "" {
			out.WriteString(p.text(kept, pieces[i].from) + text)
			kept = end
		}
		i += n - 1
	}
	return out.String() + p.text(kept, len(p.chars))
}

// together returns the number of pieces, from the first two on, that follow one another from top to bottom with
// a gap in common, and the left and the right of the columns between such gaps.
func together(pieces []piece) (columns [][2]float64, n int) {
	lowest := pieces[0].top
	for n, b := range pieces {
		most := maxAlone
		if n+1 < len(pieces) && b.gap(pieces[n+1]) || n > 0 && b.gap(pieces[n-1]) {
			most = maxStep
		}
		wider := append(slices.Clone(columns), [2]float64{b.left, b.right})
		slices.SortFunc(wider, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
		k := 0
		for _, c := range wider[1:] {
			if 2*(c[0]-wider[k][1]) < b.high() {
				wider[k][1] = max(wider[k][1], c[1])
			} else {
				k++
				wider[k] = c
			}
		}
		if n > maxPieces || lowest-b.top > most*b.high() || n > 0 && k == 0 {
			return columns, n
		}
		lowest, columns = min(lowest, b.top), wider[:k+1]
	}
	return columns, len(pieces)
}

// byColumn returns the text of pieces column by column; "" if they are not columns of prose. Rows of a table are
// not: they begin in all columns.
func byColumn(columns [][2]float64, pieces []piece) string {
	if len(pieces) > maxPieces {
		return ""
	}
	pieces = slices.SortedStableFunc(slices.Values(pieces), func(a, b piece) int { return cmp.Compare(b.top, a.top) })
	var out strings.Builder
	var all []piece
	for _, c := range columns {
		var lines []piece
		for _, b := range pieces {
			switch n := len(lines); {
			case b.left < c[0] || b.right > c[1]:
			case n == 0 || !lines[n-1].level(b):
				lines = append(lines, b)
			case b.left < lines[n-1].left:
				b.add(lines[n-1])
				lines[n-1] = b
			default:
				lines[n-1].add(b)
			}
		}
		if !isProse(lines, c) {
			return ""
		}
		for i, l := range lines {
			start, hyphen := strings.CutSuffix(l.text, "-")
			if c, _ := utf8.DecodeLastRuneInString(start); hyphen && i+1 < len(lines) && unicode.IsLetter(c) {
				l.text = start + "\x02"
			}
			out.WriteString(l.text + "\r\n")
		}
		all = append(all, lines...)
	}
	facing, rows := 0, 0 // lines with others to the left or right, and of these the beginnings of rows
	for _, l := range all {
		faces, row := 0, 1
		for _, other := range all {
			if l.left != other.left && l.level(other) {
				if faces = 1; !other.begins {
					row = 0
				}
			}
		}
		if facing += faces; faces > 0 && l.begins {
			rows += row
		}
	}
	if facing < 2*leastLines || 6*rows > len(all) {
		return ""
	}
	return out.String()
}

// isProse reports whether lines are long, mostly about as wide as the column, and often begin within a sentence.
// It finds the other lines that begin a paragraph: after a short line or the end of a sentence.
func isProse(lines []piece, column [2]float64) bool {
	bytes, wide, within, width := 0, 0, 0, column[1]-column[0]
	for i, l := range lines {
		bytes += len(l.text)
		if l.right-l.left >= .6*width {
			wide++
		}
		first, _ := utf8.DecodeRuneInString(l.text)
		if unicode.IsLetter(first) && !unicode.IsUpper(first) && !unicode.In(first, unicode.Hebrew, unicode.Arabic) {
			within++
		} else if i > 0 {
			above := lines[i-1]
			lines[i].begins = column[1]-above.right > .2*width || strings.ContainsAny(above.text[len(above.text)-1:], ".!?:;")
		}
	}
	return len(lines) > 2 && bytes >= 15*len(lines) && 3*wide >= 2*len(lines) && 3*within >= len(lines)-1
}
