// SPDX-License-Identifier: Apache-2.0

package article

import (
	"regexp"
	"slices"
	"strings"
)

// Mark is a citation mark of a sentence: [[12]](…#cite_note-smith-14).
type Mark struct {
	// Number is what the reader sees, in digits.
	Number string
	// Note names the item of the reference list; empty if the mark is no link to one.
	Note string
}

var markPattern = regexp.MustCompile(`\[\[([0-9]+)\]\](?:\(((?:[^()]|\([^()]*\))*)\))?`)

// Marks returns the citation marks of a text, each once, in order. Marks with letters
// lead to footnotes and not to sources.
func Marks(text string) []Mark {
	var out []Mark
	for _, m := range markPattern.FindAllStringSubmatch(text, -1) {
		mark := Mark{Number: m[1]}
		if _, note, found := strings.Cut(m[2], "#cite_note-"); found {
			if end := strings.IndexAny(note, "& "); end >= 0 {
				note = note[:end]
			}
			mark.Note = note
		}
		if !slices.Contains(out, mark) {
			out = append(out, mark)
		}
	}
	return out
}

// Unmark puts blanks in the place of citation marks, which may stand between two
// sentences without any; offsets stay.
func Unmark(text string) string {
	return markPattern.ReplaceAllStringFunc(text, func(mark string) string { return strings.Repeat(" ", len(mark)) })
}

// Citations are the numbered items of an article's reference list.
type Citations struct {
	address  *regexp.Regexp
	numbered map[string]string // number → item
	noted    map[string]string // note → item
}

var (
	itemStart  = regexp.MustCompile(`^([0-9]+)\. `)
	anchorLink = regexp.MustCompile(`#cite_ref-([^)\s"]+)`)
	anchorUse  = regexp.MustCompile(`^(?:(.*)_)?([0-9]+)(?:-[0-9]+)?$`)
	// An address may hold parentheses in pairs. The released tools end it at the first
	// closing one.
	address     = regexp.MustCompile(`https?://(?:[^\s()\[\]"<>]|\([^\s()]*\))+`)
	flatAddress = regexp.MustCompile(`https?://[^\s)\]">]+`)
)

// Citations reads the items of the article's reference list.
func (a *Article) Citations() *Citations {
	c := &Citations{address: address, numbered: make(map[string]string), noted: make(map[string]string)}
	if a.released {
		c.address = flatAddress
	}
	number, item := "", []string(nil)
	for _, line := range append(a.referenceList(), "0. ") {
		if m := itemStart.FindStringSubmatch(line); m != nil {
			if number != "" {
				c.add(number, strings.Join(item, "\n"))
			}
			number, item = m[1], nil
		}
		item = append(item, line)
	}
	return c
}

// referenceList are the lines below the heading of the references, its sub-headings
// included.
func (a *Article) referenceList() []string {
	i := slices.IndexFunc(a.headings, func(h heading) bool { return isReferences(h.text) })
	if i < 0 {
		return nil
	}
	end := i + 1
	for end < len(a.headings) && a.headings[end].level > a.headings[i].level {
		end++
	}
	to := a.headings[end-1].to
	if a.released {
		to = len(a.lines)
	}
	return slices.Clone(a.lines[a.headings[i].from:to])
}

func (c *Citations) add(number, item string) {
	c.numbered[number] = item
	for _, m := range anchorLink.FindAllStringSubmatch(item, -1) {
		// Anchors are the note's, once for every use: smith_14-0, smith_14-1; a note
		// that is used once and has no name is a number alone.
		if use := anchorUse.FindStringSubmatch(m[1]); use != nil {
			c.noted[strings.TrimPrefix(use[1]+"-"+use[2], "-")] = item
		}
	}
}

// Item returns the text of the item that a mark leads to, or "": by the note, which
// is exact, or by the number if the list does not know the note.
func (c *Citations) Item(m Mark) string {
	if item, known := c.noted[m.Note]; known {
		return item
	}
	return c.numbered[m.Number]
}

// URLs returns the addresses of an item outside of the encyclopedia, each once, cut at
// the fragment.
func (c *Citations) URLs(m Mark) []string {
	var out []string
	for _, u := range c.address.FindAllString(c.Item(m), -1) {
		u, _, _ = strings.Cut(u, "#")
		if !isWiki(u) && !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}
