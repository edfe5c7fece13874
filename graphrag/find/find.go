// SPDX-License-Identifier: Apache-2.0

package find

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Line is a line that matches: the part of it about the match, at most [MaxLine] bytes of it, with "…" where it
// was cut and below the first row of its table, as a chunk of the page, whose Index is the passage that it is in.
type Line struct {
	graphrag.Chunk
	// Number counts the lines of the page from 1.
	Number int
}

// MaxLine is the number of bytes of a line that are shown; pages may be one line of megabytes.
const MaxLine = 300

// maxPattern is the longest pattern, in bytes.
const maxPattern = 1000

// Result contains the lines that match.
type Result struct {
	// Lines are shared out over the pages, those with the most matching lines first: the
	// first line of each, the second of each, and so on. Lines of one page stand together.
	Lines []Line
	// Matching counts all lines that match, Pages the pages that have one.
	Matching, Pages int
}

// ErrPattern is wrapped by the errors about patterns.
var ErrPattern = errors.New("the pattern cannot be used")

// Find returns at most most lines that match a pattern. A pattern that is empty, too long,
// matches the empty text, and so every line, or is none at all is an error that says so.
// It takes all processors, and ends with the error of ctx.
func (p *Pages) Find(ctx context.Context, pattern string, most int) (Result, error) {
	re, wanted, err := compile(pattern)
	if err != nil {
		return Result{}, err
	}
	all := make([]matches, len(p.pages))
	err = par.Each(ctx, len(p.pages), 0, func(i int) error {
		literals := wanted
		if p.pages[i].odd {
			literals = nil
		}
		all[i] = search(p.pages[i].text, re, literals, most)
		return ctx.Err()
	})
	if err != nil {
		return Result{}, err
	}
	return p.share(all, most), nil
}

// compile reads a pattern; wanted are the texts one of which every match has.
func compile(pattern string) (*regexp.Regexp, []literal, error) {
	if strings.TrimSpace(pattern) == "" {
		return nil, nil, fmt.Errorf("%w: it is empty", ErrPattern)
	}
	if len(pattern) > maxPattern {
		return nil, nil, fmt.Errorf("%w: it has %d bytes, at most %d are read", ErrPattern, len(pattern), maxPattern)
	}
	re, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s; write \\ before a character that is meant itself", ErrPattern, strings.ToValidUTF8(strings.TrimPrefix(err.Error(), "error parsing regexp: "), ""))
	}
	if re.MatchString("") {
		return nil, nil, fmt.Errorf("%w: %q matches every line", ErrPattern, pattern)
	}
	return re, required(pattern), nil
}

// match is a matching line, by the offsets of its start, of the first match in it, and of its end.
type match struct{ start, at, end int }

// matches are the first matching lines of a page, and the number of all.
type matches struct {
	first []match
	n     int
}

// search looks for the lines of a text that match.
func search(text string, re *regexp.Regexp, wanted []literal, most int) (out matches) {
	wanted = slices.Clone(wanted)
	for i := range wanted {
		wanted[i].begin(text)
	}
	for line := 0; line < len(text); {
		hit := line
		if len(wanted) > 0 {
			hit = len(text)
			for i := range wanted {
				hit = min(hit, wanted[i].from(line))
			}
			if hit == len(text) {
				break
			}
			line = strings.LastIndexByte(text[line:hit], '\n') + line + 1
		}
		end := len(text)
		if n := strings.IndexByte(text[hit:], '\n'); n >= 0 {
			end = hit + n
		}
		at := hit
		if len(wanted) != 1 || !wanted[0].whole {
			if m := re.FindStringIndex(text[line:end]); m != nil {
				at = line + m[0]
			} else {
				at = -1
			}
		}
		if at >= 0 {
			if out.n++; len(out.first) < most {
				out.first = append(out.first, match{line, at, end})
			}
		}
		line = end + 1
	}
	return out
}

// share shares out the lines over the pages.
func (p *Pages) share(all []matches, most int) (out Result) {
	var order []int
	for i, m := range all {
		if m.n > 0 {
			order = append(order, i)
			out.Matching, out.Pages = out.Matching+m.n, out.Pages+1
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].n, all[a].n) })
	taken := make([]int, len(order))
	for round, left := 0, most; left > 0 && round < most; round++ {
		for n, i := range order {
			if left > 0 && round < len(all[i].first) {
				taken[n]++
				left--
			}
		}
	}
	for n, i := range order {
		out.Lines = append(out.Lines, p.pages[i].lines(all[i].first[:taken[n]])...)
	}
	return out
}

// lines describes matches, which are in their order.
func (p *page) lines(found []match) []Line {
	out := make([]Line, len(found))
	number, counted := 1, 0
	for i, m := range found {
		number += strings.Count(p.text[counted:m.start], "\n")
		counted = m.start
		start, end := p.about(m)
		out[i] = Line{p.chunk(start, end), number}
		if start > m.start {
			out[i].Text = "…" + out[i].Text
		}
		if end < m.end {
			out[i].Text += "…"
		}
		if head := p.header(m.start); head != "" {
			out[i].Text = head + "\n" + out[i].Text
		}
		out[i].Index = lastAt(p.begin, m.at)
	}
	return out
}

// header is the first line of the table that the line at start is a row of, "" if there is none above it.
func (p *page) header(start int) string {
	first := start
	for first > 0 && strings.HasPrefix(p.text[first:], "|") {
		above := strings.LastIndexByte(p.text[:first-1], '\n') + 1
		if p.text[above] != '|' {
			break
		}
		first = above
	}
	if first == start {
		return ""
	}
	line, _, _ := strings.Cut(p.text[first:start], "\n")
	return strings.ToValidUTF8(line[:min(len(line), MaxLine)], "")
}

// about is the line of a match, or a part of it that has the beginning of the match.
func (p *page) about(m match) (start, end int) {
	start, end = m.start, m.end
	if end-start > MaxLine {
		start = max(start, m.at-MaxLine/3)
		end = min(end, start+MaxLine-len("……"))
	}
	for start < end && !utf8.RuneStart(p.text[start]) {
		start++
	}
	for end < len(p.text) && end > start && !utf8.RuneStart(p.text[end]) {
		end--
	}
	return start, end
}
