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

// Line is a matching line, as a chunk of the page whose Index is the passage that contains the match. A line
// longer than [MaxLine] bytes is cut around the match, with "…" at the cuts. The header of its table, if any,
// precedes it.
type Line struct {
	graphrag.Chunk
	// Number is the number of the line in the page, from 1.
	Number int
}

// MaxLine is the most bytes of a line that are shown; a page may be one line of megabytes.
const MaxLine = 300

// maxPattern is the longest pattern, in bytes.
const maxPattern = 1000

// Result is the result of Find.
type Result struct {
	// Lines are chosen from the pages in turns, from the page with the most matching lines first: the first
	// line of each page, the second of each, and so on. Lines of the same page are consecutive.
	Lines []Line
	// Matching is the number of all matching lines, Pages the number of pages that contain one.
	Matching, Pages int
}

// ErrPattern is wrapped by errors about invalid patterns.
var ErrPattern = errors.New("the pattern cannot be used")

// Find returns at most most lines that match a regular expression. A pattern that is empty, too long or
// invalid, or matches the empty text and so every line, is an error. Find uses all processors, and returns the
// error of a cancelled ctx.
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

// compile compiles a pattern, and returns literals of which every match contains at least one.
func compile(pattern string) (*regexp.Regexp, []literal, error) {
	if strings.TrimSpace(pattern) == "" {
		return nil, nil, fmt.Errorf("%w: it is empty", ErrPattern)
	}
	if len(pattern) > maxPattern {
		return nil, nil, fmt.Errorf("%w: it has %d bytes, want at most %d", ErrPattern, len(pattern), maxPattern)
	}
	re, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s; write \\ before a special character to match it literally", ErrPattern, strings.ToValidUTF8(strings.TrimPrefix(err.Error(), "error parsing regexp: "), ""))
	}
	if re.MatchString("") {
		return nil, nil, fmt.Errorf("%w: %q matches every line", ErrPattern, pattern)
	}
	return re, required(pattern), nil
}

// match is a matching line: the offsets of its start, of the first match in it, and of its end.
type match struct{ start, at, end int }

// matches holds the first matching lines of a page, and the number of all of them.
type matches struct {
	first []match
	n     int
}

// search returns the lines of a text that match.
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

// share chooses at most most lines from the pages in turns.
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

// lines returns the matches of a page, which are in ascending order, as lines.
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

// header returns the first line of the table that contains the line at offset start, "" if that line is no
// table row or the first one.
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

// about returns the line of a match, or if it is too long, a part of it around the start of the match.
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
