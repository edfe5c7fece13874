// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strings"
	"sync"

	"github.com/neurosnap/sentences"
	"github.com/neurosnap/sentences/data"
)

// punkt holds the trained tables of the Punkt sentence splitter. Words in
// them are lower case, numbers are "##number##".
type punkt struct {
	abbreviations map[string]bool
	beforeNumbers map[string]bool     // abbreviations when a number follows
	collocations  sentences.SetString // "word,next": never the end of a sentence
	starters      sentences.SetString // often the first word of a sentence
	context       sentences.SetString // word → bits: where and in which case it was seen
}

// Bits of punkt.context.
const (
	seenUpperInside = 1 << 2
	seenUpper       = 1<<1 | 1<<2 | 1<<3
	seenLower       = 1<<4 | 1<<5 | 1<<6
)

// Abbreviations of reference works and addresses that the training text, the
// Wall Street Journal, did not have; and words that are one before a number
// only ("art. 5", "the art. It").
const (
	ownAbbreviations = "al approx app appx assn bldg ca cf chs cit dept diss eq eqs esp et-al fig figs fn gov ibid illus incl " +
		"mt no nos op pl pp publ rd sgt st subst suppl transl univ vol vols viz vs"
	beforeNumbers = "art chap ch def ex no nr par para pt ref sec sect ser tab"
)

// punktTables loads the English tables, once.
var punktTables = sync.OnceValue(func() *punkt {
	asset, err := data.Asset("data/english.json")
	if err != nil {
		panic("text: " + err.Error()) // the file is embedded in the binary
	}
	trained, err := sentences.LoadTraining(asset)
	if err != nil {
		panic("text: embedded sentence tables: " + err.Error())
	}
	p := &punkt{
		abbreviations: make(map[string]bool, len(trained.AbbrevTypes)),
		beforeNumbers: make(map[string]bool),
		collocations:  trained.Collocations,
		starters:      trained.SentStarters,
		context:       trained.OrthoContext,
	}
	for word := range trained.AbbrevTypes {
		p.abbreviations[word] = true
	}
	for _, word := range strings.Fields(ownAbbreviations) {
		p.abbreviations[word] = true
	}
	for _, word := range strings.Fields(beforeNumbers) {
		p.beforeNumbers[word] = true
	}
	return p
})

// ends decides about a full stop between word and next, where upper says that
// next begins in upper case. A next word in lower case was ruled out before.
func (p *punkt) ends(word, next string, upper bool) bool {
	if word == "" {
		return upper // ". The" after a space: the end of a spaced ellipsis
	}
	var buf, nextBuf [maxWord + maxWord + 1]byte
	w := lowerASCII(buf[:0], word)
	n := lowerASCII(nextBuf[:0], strings.TrimRight(next, ".'-"))
	if isNumber(w) {
		w = append(w[:0], "##number##"...)
	}
	if isNumber(n) {
		if p.beforeNumbers[string(w)] {
			return false
		}
		n = append(n[:0], "##number##"...)
	}
	size := len(w)
	if p.collocations[string(append(append(w, ','), n...))] != 0 {
		return false
	}
	w = w[:size]
	context := p.context[string(n)]
	starts := upper && context&seenLower != 0 && context&seenUpperInside == 0
	switch {
	case len(word) == 1 && 'a' <= word[0]|0x20 && word[0]|0x20 <= 'z':
		// An initial (section 4.3): "J. Bach", but "plan B. The".
		return starts || upper && p.starters[string(n)] != 0 && context&seenLower != 0
	case p.isAbbreviation(w):
		return starts || upper && p.starters[string(n)] != 0
	}
	return true
}

// isAbbreviation looks up a word in lower case without its last full stop.
// Words with full stops inside (u.s, e.g, ph.d) are abbreviations.
func (p *punkt) isAbbreviation(w []byte) bool {
	if p.abbreviations[string(w)] {
		return true
	}
	for i := len(w) - 1; i > 0; i-- {
		switch w[i] {
		case '-':
			return p.abbreviations[string(w[i+1:])]
		case '.':
			return len(w)-i <= 3 && !punktDigit(w[i-1])
		}
	}
	return false
}

// lowerASCII appends s in lower case. Letters outside ASCII stay as they are:
// the tables have none.
func lowerASCII(dst []byte, s string) []byte {
	for i := 0; i < len(s) && i < maxWord; i++ {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// isNumber tells whether w is made of digits and the marks between them.
func isNumber(w []byte) bool {
	digits := 0
	for _, c := range w {
		switch {
		case punktDigit(c):
			digits++
		case c != '.' && c != ',' && c != '-':
			return false
		}
	}
	return digits > 0
}

func punktDigit(c byte) bool { return '0' <= c && c <= '9' }
