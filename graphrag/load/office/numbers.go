// SPDX-License-Identifier: Apache-2.0

package office

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// numbers are the automatic numbers of headings, clauses and items, as the program shows them.
type numbers struct {
	lists map[string]*counter // by the ID that paragraphs have
	bases map[string]*counter // of DOCX, which lists share
}

// counter is a kind of list with its counters.
type counter struct {
	levels  [9]level
	count   *[9]int // numbers and one, shared by lists of a base; 0 is a level that has not begun
	restart map[int]int
}

// level is how a level of a list is numbered.
type level struct {
	first        int
	format, text string // "lowerRoman", "%1.%2)"
	legal        bool   // all numbers are decimal
	after        int    // the level, from 1, after which it begins again; 0 is the one above, -1 none
}

// levelOf reads a level of DOCX.
func levelOf(e *element, l *level) {
	l.first = e.at("start").number("val", 0, 1<<20)
	l.format, l.text, l.legal = e.at("numFmt").attr("val"), e.at("lvlText").attr("val"), e.on("isLgl")
	if r := e.at("lvlRestart"); r != nil {
		if l.after = r.number("val", 0, 9); l.after == 0 {
			l.after = -1
		}
	}
}

// abstract notes what lists of DOCX are based on (ECMA-376 part 1, 17.9).
func (n numbers) abstract(e *element) {
	l := &counter{count: new([9]int)}
	for _, k := range e.kids {
		if k.name == "lvl" {
			levelOf(k, &l.levels[k.number("ilvl", 0, 8)])
		}
	}
	n.bases[e.attr("abstractNumId")] = l
}

// num notes a list of DOCX.
func (n numbers) num(e *element) {
	base := n.bases[e.at("abstractNumId").attr("val")]
	if base == nil {
		return
	}
	l := *base
	l.restart = make(map[int]int)
	for _, k := range e.kids {
		if k.name != "lvlOverride" {
			continue
		}
		i := k.number("ilvl", 0, 8)
		if lvl := k.at("lvl"); lvl != nil {
			levelOf(lvl, &l.levels[i])
		}
		if start := k.at("startOverride"); start != nil {
			l.restart[i] = start.number("val", 0, 1<<20)
		}
	}
	n.lists[e.attr("numId")] = &l
}

// odtFormats are the formats of ODT.
var odtFormats = map[string]string{"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman", "": "none"}

// listStyle notes a list of ODT.
func (n numbers) listStyle(e *element) {
	l := &counter{count: new([9]int)}
	for _, k := range e.kids {
		i := k.number("level", 1, 9) - 1
		if k.name != "list-level-style-number" && k.name != "outline-level-style" {
			continue
		}
		text := ""
		for at := i + 1 - k.number("display-levels", 1, i+1); at <= i; at++ {
			text += ".%" + strconv.Itoa(at+1)
		}
		if k.attr("num-format") == "" {
			text = ""
		}
		l.levels[i] = level{first: k.number("start-value", 1, 1<<20), format: odtFormats[k.attr("num-format")],
			text: k.attr("num-prefix") + strings.TrimPrefix(text, ".") + k.attr("num-suffix")}
	}
	n.lists[e.attr("name")] = l
}

// restart begins a list again.
func (n numbers) restart(name string) {
	if l := n.lists[name]; l != nil {
		l.count = new([9]int)
	}
}

// next is the label of the next item of a list at a depth from 0, "" of one without numbers.
func (n numbers) next(name string, depth int) string {
	l := n.lists[name]
	if l == nil || depth < 0 || depth > 8 {
		return ""
	}
	of := l.levels[depth]
	if start, ok := l.restart[depth]; ok {
		delete(l.restart, depth)
		l.count[depth] = start + 1
	} else if l.count[depth] == 0 {
		l.count[depth] = of.first + 1
	} else {
		l.count[depth]++
	}
	for i := range depth { // one that is left out counts
		l.count[i] = cmp.Or(l.count[i], l.levels[i].first+1)
	}
	for i := depth + 1; i < 9; i++ {
		if after := l.levels[i].after; after == 0 || after > depth {
			l.count[i] = 0
		}
	}
	if of.format == "bullet" {
		return ""
	}
	return numberAt.ReplaceAllStringFunc(strings.ToValidUTF8(of.text[:min(len(of.text), maxLabel)], ""), func(s string) string {
		i := int(s[1] - '1')
		count := cmp.Or(l.count[i], l.levels[i].first+1) - 1
		if of.legal {
			return numeral("decimal", count)
		}
		return numeral(l.levels[i].format, count)
	})
}

// maxLabel bounds the text of a level, in bytes.
const maxLabel = 64

// numberAt is the place of a number in the text of a level.
var numberAt = regexp.MustCompile(`%[1-9]`)

// ordinal is a label that begins an item of Markdown.
var ordinal = regexp.MustCompile(`^[0-9]{1,9}[.)]$`)

// autoKind is the kind of a number of PPTX, such as "romanUcParenBoth".
var autoKind = regexp.MustCompile(`^(arabic|alphaLc|alphaUc|romanLc|romanUc)\w*?(Period|ParenR|ParenBoth|Plain)$`)

// auto is next of a paragraph of PPTX: e is nil of one without a number, which ends the list.
func (n numbers) auto(e *element, depth int) string {
	m := autoKind.FindStringSubmatch(e.attr("type"))
	l := n.lists["auto"]
	if l == nil || m == nil && depth == 0 {
		l = &counter{count: new([9]int)}
		n.lists["auto"] = l
	}
	if m == nil {
		return ""
	}
	l.levels[depth] = level{first: e.number("startAt", 1, 1<<20),
		format: map[string]string{"arabic": "decimal", "alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman"}[m[1]],
		text:   strings.ReplaceAll(map[string]string{"Period": "%n.", "ParenR": "%n)", "ParenBoth": "(%n)", "Plain": "%n"}[m[2]], "n", strconv.Itoa(depth+1))}
	return n.next("auto", depth)
}

// romans are Roman numerals with their values.
var romans = []struct {
	value int
	sign  string
}{{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}}

// numeral is a number in a format of ECMA-376 part 1, 17.18.59; numbers of other scripts are decimal.
func numeral(of string, n int) string {
	decimal := strconv.Itoa(n)
	switch of {
	case "none", "bullet":
		return ""
	case "upperLetter", "upperRoman":
		return strings.ToUpper(numeral("lower"+of[len("upper"):], n))
	case "lowerLetter":
		if n > 0 && n <= 26*32 { // z, aa, bb
			return strings.Repeat(string(rune('a'+(n-1)%26)), 1+(n-1)/26)
		}
	case "lowerRoman":
		s := ""
		for _, r := range romans {
			for n > 0 && n < 1<<12 && n >= r.value {
				s, n = s+r.sign, n-r.value
			}
		}
		if s != "" {
			return s
		}
	case "decimalZero":
		if n < 10 {
			return "0" + decimal
		}
	}
	return decimal
}
