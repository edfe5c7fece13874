// SPDX-License-Identifier: Apache-2.0

package text

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What a line of a page is taken for.
type pageLine int

const (
	pageBlank pageLine = iota // also rules and underlines
	heading
	prose
	button // short and no sentence: furniture, unless a paragraph is broken there
	furniture
)

// How short a line without the end of a sentence must be to be a button or an entry
// of a menu, how short one that is mostly links, and how short a cookie note.
const (
	maxButtonWords = 8
	maxLinkWords   = 12
	maxLinkShare   = 0.5
	maxNoteWords   = 40
)

// notes are words of cookie notes and the like, in the languages in which these are
// most common.
var notes = regexp.MustCompile(`(?i)\bcookies?\b|\bprivacy (?:matters|policy|settings)\b|\btraceurs?\b|\bconsent\b|\bnewsletter\b|datenschutz|galletas|クッキー|饼干|隐私政策|файлы cookie|©`)

// sentenceEnd is at the end of prose; a colon or a digit makes a short line a fact.
var sentenceEnd = regexp.MustCompile(`[.!?…。！？][)"'”’»」]*\s*$|[:：|\d]`)

var item = regexp.MustCompile(`^\s*(?:[-*+•]|\d+[.)])\s`)

// StripFurniture leaves out what pages have beside their text: menus, buttons,
// cookie notes, lists of links to other pages, and headings with nothing under them.
// It goes by single lines, in any language: a line that is mostly links and has few
// words, a short line that is neither a sentence nor a fact with a number, and a
// note with the usual words. Short names in plain lists go as well. It is to be
// called before links are stripped: they tell menus from text.
func StripFurniture(s string) (clean string, m Mapping) {
	var lines []Span
	for start := 0; start < len(s); {
		end := len(s)
		if i := strings.IndexByte(s[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		lines = append(lines, Span{start, end})
		start = end
	}
	kinds := make([]pageLine, len(lines))
	for i, l := range lines {
		kinds[i] = pageLineOf(l.In(s))
		if i > 0 && kinds[i] == pageBlank && underline(l.In(s)) && kinds[i-1] == button {
			kinds[i-1] = heading
		}
	}
	for i := 1; i < len(kinds); i++ {
		joinProse(kinds, i, i-1)
	}
	for i := len(kinds) - 2; i >= 0; i-- {
		joinProse(kinds, i, i+1)
	}
	empty := true // nothing but headings since the last prose, from below
	var kept []Span
	for i := len(lines) - 1; i >= 0; i-- {
		switch kinds[i] {
		case prose:
			empty = false
		case button, furniture:
			continue
		case pageBlank:
			if n := len(kept); n > 0 && strings.TrimSpace(lines[i].In(s)+kept[n-1].In(s)) == "" {
				continue // one is enough
			}
		case heading:
			if empty && i > 0 {
				continue
			}
			empty = true
			if level(lines[i].In(s)) == 1 {
				empty = false // a title stays, and what is above it is another matter
			}
		}
		kept = append(kept, lines[i])
	}
	if len(kept) == len(lines) {
		return s, m
	}
	var b strings.Builder
	for i := range len(kept) / 2 {
		kept[i], kept[len(kept)-1-i] = kept[len(kept)-1-i], kept[i]
	}
	for _, l := range kept {
		b.WriteString(l.In(s))
	}
	return b.String(), NewMapping(kept)
}

// joinProse makes a short line prose if prose is next to it without a blank line.
func joinProse(kinds []pageLine, i, beside int) {
	if kinds[i] == button && kinds[beside] == prose {
		kinds[i] = prose
	}
}

func underline(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 2 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// level is the level of a heading, 0 for other lines.
func level(line string) int {
	return len(line) - len(strings.TrimLeft(line, "#"))
}

func pageLineOf(line string) pageLine {
	bare, _ := StripLinks(line)
	shown := strings.TrimFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '©' })
	switch {
	case level(line) > 0 && shown != "":
		return heading
	case shown == "" && len(bare) < len(line) && strings.TrimSpace(line) != "":
		return furniture // an image or a button without a word
	case shown == "":
		return pageBlank
	}
	words := 0 // a run of a script without blanks counts by twos
	Default().Words(shown, func([]byte) bool { words++; return true })
	switch links := float64(len(line)-len(bare)) / float64(len(line)); {
	case links >= maxLinkShare && words <= maxLinkWords, words <= maxNoteWords && notes.MatchString(bare):
		return furniture
	case words <= maxButtonWords && !sentenceEnd.MatchString(strings.TrimSpace(bare)):
		if item.MatchString(line) {
			return furniture
		}
		return button
	}
	return prose
}

// Printable is a text of somebody else's that can be shown: without the characters
// that steer a terminal, that turn the direction of what is read, or that nobody
// sees. Line breaks and tabs stay, other control characters become blanks, and so
// do the separators of lines and paragraphs.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case !hidden(r):
			return r
		case unicode.In(r, unicode.Cf):
			return -1
		}
		return ' '
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// OneLine is a printable text on one line, for a table or a line of progress.
func OneLine(s string) string { return blankLines.Replace(Printable(s)) }

var blankLines = strings.NewReplacer("\n", " ", "\t", " ")

// JSON encodes values without HTML escapes, and with the characters that Printable
// takes out as \u escapes, so that what is written can be looked at in a terminal.
func JSON(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(escaper{w})
	enc.SetEscapeHTML(false)
	return enc
}

// escaper takes what a json.Encoder writes: whole values.
type escaper struct{ w io.Writer }

func (e escaper) Write(p []byte) (int, error) {
	if _, err := e.w.Write(escape(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escape writes hidden characters as \u escapes: inside of texts they mean the same,
// and elsewhere valid JSON has none but line breaks and tabs.
func escape(data []byte) []byte {
	if !strings.ContainsFunc(string(data), hidden) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for _, r := range string(data) {
		if hidden(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// hidden reports whether Printable removes a character. The joiners
// shape the letters of some scripts, and are kept.
func hidden(r rune) bool {
	switch {
	case ' ' <= r && r <= '~', r == '\n', r == '\t', r == '\u200c', r == '\u200d':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Head is the start of a text, of at most a number of bytes, up to the end of a word; ""
// if the first word is longer.
func Head(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	return strings.TrimSpace(s[:max(strings.LastIndexFunc(s[:bytes+1], unicode.IsSpace), 0)])
}
