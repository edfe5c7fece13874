// SPDX-License-Identifier: Apache-2.0

package office

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// numbers are the automatic numbers of paragraphs: lists by ID, and after "#" the DOCX lists that others are based on.
type numbers map[string]*counter

// counter is a kind of list with its counters.
type counter struct {
	levels  [9]level
	link    string  // the style with the levels
	count   *[9]int // numbers and one, shared by lists of a base; 0 is a level that has not begun
	restart map[int]int
}

// level is how a level of a list is numbered.
type level struct {
	first        int
	format, text string // "lowerRoman", "%1.%2)"
	style        string // whose paragraphs have it
	legal        bool   // all numbers are decimal
	after        int    // one more than the level, from 1, after which it begins again; 0 is the one above, 1 none
}

// wordLevel reads a level of DOCX.
func wordLevel(e *element) level {
	return level{
		first: e.at("start").number("val", 0, 1<<20), after: e.at("lvlRestart").number("val", -1, 9) + 1,
		format: e.at("numFmt").attr("val"), text: e.at("lvlText").attr("val"), style: e.at("pStyle").attr("val"), legal: e.on("isLgl"),
	}
}

// openLevel reads a level of ODT.
func openLevel(e *element, depth int) level {
	kind, text := e.attr("num-format"), ""
	for at := depth + 1 - e.number("display-levels", 1, depth+1); at <= depth && kind != ""; at++ {
		text += ".%" + strconv.Itoa(at+1)
	}
	text = e.attr("num-prefix") + strings.TrimPrefix(text, ".") + e.attr("num-suffix")
	return level{first: e.number("start-value", 1, 1<<20), format: cmp.Or(kind, "none"), text: text}
}

// define notes a list of DOCX (ECMA-376 part 1, 17.9) or ODT.
func (n numbers) define(e *element) {
	l := counter{count: new([9]int), link: e.at("numStyleLink").attr("val")}
	if base := n["#"+e.at("abstractNumId").attr("val")]; base != nil {
		l = *cmp.Or(n["="+base.link], base)
	}
	l.restart = make(map[int]int)
	for _, k := range e.kids {
		switch depth := k.number("ilvl", 0, 8); k.name {
		case "lvl":
			l.levels[depth] = wordLevel(k)
		case "lvlOverride":
			if of := k.at("lvl"); of != nil {
				l.levels[depth] = wordLevel(of)
			}
			if start := k.at("startOverride"); start != nil {
				l.restart[depth] = start.number("val", 0, 1<<20)
			}
		case "list-level-style-number", "outline-level-style":
			depth = k.number("level", 1, 9) - 1
			l.levels[depth] = openLevel(k, depth)
		}
	}
	id := e.attr("numId") + e.attr("name")
	if e.name == "abstractNum" {
		id = "#" + e.attr("abstractNumId")
		if of := e.at("styleLink"); of != nil {
			n["="+of.attr("val")] = &l
		}
	}
	n[id] = &l
}

// restart begins a list of ODT again, unless it continues another one.
func (n numbers) restart(name string, e *element) {
	if l := n[name]; l != nil && e.attr("continue-numbering") != "true" && e.attr("continue-list") == "" {
		l.count = new([9]int)
	}
}

// begin sets the next number of a list at a depth, if the element has one.
func (n numbers) begin(name string, depth int, e *element) {
	if l := n[name]; l != nil && e.attr("start-value") != "" {
		l.restart[depth] = e.number("start-value", 0, 1<<20)
	}
}

// next is the label of the next item of a list at a depth from 0, "" of one without numbers.
func (n numbers) next(name string, depth int) string {
	l := n[name]
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
		if after := l.levels[i].after; after == 0 || after > depth+1 {
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
			return strconv.Itoa(count)
		}
		return load.Numeral(l.levels[i].format, count)
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

// autoTexts are the texts of levels by their ends.
var autoTexts = map[string]string{"Period": "%n.", "ParenR": "%n)", "ParenBoth": "(%n)", "Plain": "%n"}

// auto is next of a paragraph of PPTX: e is nil of one without a number, which ends the list.
func (n numbers) auto(e *element, depth int) string {
	m := autoKind.FindStringSubmatch(e.attr("type"))
	l := n["auto"]
	if l == nil || m == nil && depth == 0 {
		l = &counter{count: new([9]int)}
		n["auto"] = l
	}
	if m == nil {
		return ""
	}
	if l.levels[depth].format != m[1] {
		l.count[depth] = 0
	}
	l.levels[depth] = level{first: e.number("startAt", 1, 1<<20), format: m[1], text: strings.ReplaceAll(autoTexts[m[2]], "n", strconv.Itoa(depth+1))}
	return n.next("auto", depth)
}
