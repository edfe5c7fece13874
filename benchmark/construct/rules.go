// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Rules extracts statements without a model: a sentence without marks, links and emphasis. Pronouns and "the
// film" are not resolved, so such gold is weaker than a model's; reports call it offline.
type Rules struct{}

var _ Stater = Rules{}

// minStatement is the least number of words of a statement.
const minStatement = 5

var (
	sectionEdit = regexp.MustCompile(`\[\[edit\]\([^)]*\)\]`)
	hatnote     = regexp.MustCompile(`^(?:Main article|Main articles|See also|Further information|For [^:]*, see)\b`)
	loose       = regexp.MustCompile(` ([,.;:)])`)
	emphasis    = regexp.MustCompile(`\*+|\b_|_\b`)
)

// State implements Stater.
func (Rules) State(_ context.Context, _ *Article, s Section) ([]Stated, error) {
	var out []Stated
	for paragraph := range strings.SplitSeq(s.Body, "\n") {
		if !isProse(paragraph) {
			continue
		}
		for _, sentence := range sentences(paragraph) {
			if len(Marks(sentence)) > 0 {
				out = append(out, Stated{Sentence: sentence, Statement: plainStatement(sentence)})
			}
		}
	}
	return out, nil
}

// isProse excludes tables, pictures, headings and pointers to other articles.
func isProse(paragraph string) bool {
	p := strings.TrimSpace(paragraph)
	return p != "" && !strings.HasPrefix(p, "|") && !strings.HasPrefix(p, "[![") && !strings.HasPrefix(p, "![") &&
		!sectionEdit.MatchString(p) && !hatnote.MatchString(p)
}

// sentences splits a paragraph into visible sentences; the marks after a sentence belong to it.
func sentences(paragraph string) []string {
	clean, m := text.StripLinks(Unmark(paragraph))
	spans := text.Sentences(clean)
	var out []string
	for i, s := range spans {
		from, to := m.Source(s.Start), len(paragraph)
		if i == 0 {
			from = 0
		}
		if i+1 < len(spans) {
			to = m.Source(spans[i+1].Start)
			for to > 0 && strings.ContainsRune("[_*\"“(", rune(paragraph[to-1])) { // back over the bracket of its link
				to--
			}
		}
		out = append(out, strings.TrimSpace(paragraph[from:to]))
	}
	return out
}

// plainStatement returns a sentence without markup, or "" if it is too short or a formula.
func plainStatement(sentence string) string {
	clean, _ := text.StripLinks(Unmark(sentence))
	clean = strings.Trim(display.OneLine(emphasis.ReplaceAllString(clean, "")), "-• ")
	clean = loose.ReplaceAllString(clean, "$1")
	if len(strings.Fields(clean)) < minStatement || strings.Contains(clean, `\displaystyle`) {
		return ""
	}
	return clean
}

// plainText returns a section without markup.
func plainText(body string) string {
	clean, _ := text.StripLinks(Unmark(body))
	return display.OneLine(clean)
}

var (
	_ Asker   = Rules{}
	_ Checker = Rules{}
)

// gapPattern matches names and numbers, which a gap may replace.
var gapPattern = regexp.MustCompile(`\p{Lu}[\p{L}\p{M}'’.-]*(?: (?:of|the|de|van|von|and) \p{Lu}[\p{L}\p{M}'’-]*| \p{Lu}[\p{L}\p{M}'’-]*)*|[0-9][0-9.,:]*[0-9%]|[0-9]`)

// Ask replaces the last name or number of a fact that is not in the article's title by a gap; without one
// there is no question. For a section it asks for an overview.
func (Rules) Ask(_ context.Context, d Draft) (string, error) {
	if d.Type == wildgraph.Summary {
		return fmt.Sprintf("Give an overview of %s (%s).", plainHeading(d.Path[len(d.Path)-1]), plainHeading(d.Title)), nil
	}
	s := d.statement()
	all := gapPattern.FindAllStringIndex(s, -1)
	for i := len(all) - 1; i >= 0; i-- {
		from, to := all[i][0], all[i][1]
		if gap := strings.TrimRight(s[from:to], ".,:-"); from > 0 && !strings.Contains(d.Title, gap) {
			return fmt.Sprintf("What belongs into the gap, by the sources on %s? “%s ____%s”",
				plainHeading(d.Title), strings.TrimSpace(s[:from]), s[from+len(gap):]), nil
		}
	}
	return "", nil
}

func plainHeading(h string) string { return strings.Trim(emphasis.ReplaceAllString(h, ""), " ") }

// supportShare is the share of a statement's content words that pages must contain; aloneShare is the largest
// part of the words found on all pages that one page may contain alone.
const (
	supportShare = 0.6
	aloneShare   = 0.85
)

// Supports reports whether the best window of a page, or of several pages together, contains most of the
// statement's words.
func (Rules) Supports(_ context.Context, _ string, d Draft) (Verdict, error) {
	return supportVerdict(d.statement(), d.Pages), nil
}

// Joint reports whether no single page contains nearly all words that the pages contain together.
func (Rules) Joint(_ context.Context, _ string, d Draft) (Verdict, error) {
	alone, together := shares(d.statement(), d.Pages)
	if alone > aloneShare*together {
		return Verdict{Reason: "one page is enough"}, nil
	}
	return Verdict{OK: true}, nil
}

// Backed is Supports of each statement with the pages of its sources.
func (r Rules) Backed(ctx context.Context, d Draft) ([]Verdict, error) {
	out := make([]Verdict, len(d.Triples))
	for i, t := range d.Triples {
		out[i] = supportVerdict(t.Statement, citedBy(d.Pages, t))
	}
	return out, ctx.Err()
}

func supportVerdict(statement string, pages []Page) Verdict {
	_, together := shares(statement, pages)
	if together >= supportShare {
		return Verdict{OK: true}
	}
	return Verdict{Reason: fmt.Sprintf("%.0f %% of the statement's words stand in one place of its pages", 100*together)}
}

// shares returns two shares of a statement's content words: the largest in a window of any page, and the
// share in the best windows of all pages together.
func shares(statement string, pages []Page) (alone, together float64) {
	words := contentTerms(statement)
	if len(words) == 0 {
		return 0, 0
	}
	union := make([]bool, len(words))
	for _, p := range pages {
		best, most := []bool(nil), 0
		for _, have := range termsIn(pieces(p.Text, window), words) {
			if n := count(have); n > most {
				best, most = have, n
			}
		}
		for j, has := range best {
			union[j] = union[j] || has
		}
		alone = max(alone, float64(most)/float64(len(words)))
	}
	return alone, float64(count(union)) / float64(len(words))
}

func count(of []bool) (n int) {
	for _, is := range of {
		if is {
			n++
		}
	}
	return n
}

func citedBy(pages []Page, t Triple) []Page {
	var out []Page
	for _, u := range t.URLs {
		if i := slices.IndexFunc(pages, func(p Page) bool { return p.URL == u }); i >= 0 {
			out = append(out, pages[i])
		}
	}
	return out
}

// window is the size of a window of a page, in bytes: about three paragraphs.
const window = 1500

// contentTerms returns the distinct content words of a text, sorted.
func contentTerms(s string) []string {
	all := text.Default().Terms(s)
	slices.Sort(all)
	return slices.Compact(all)
}

// termsIn reports which of the terms each window contains.
func termsIn(windows, terms []string) [][]bool {
	out := make([][]bool, len(windows))
	for i, w := range windows {
		have := make(map[string]bool)
		for _, t := range text.Default().Terms(w) {
			have[t] = true
		}
		out[i] = make([]bool, len(terms))
		for j, t := range terms {
			out[i][j] = have[t]
		}
	}
	return out
}

// Excerpt returns the windows of a page that are most relevant to a statement, in the order of the page,
// within the given bytes; rare words weigh more.
func Excerpt(page, statement string, bytes int) string {
	if len(page) <= bytes {
		return page
	}
	all, words := pieces(page, window), contentTerms(statement)
	have := termsIn(all, words)
	rare := make([]float64, len(words))
	for j := range words {
		for i := range have {
			if have[i][j] {
				rare[j]++
			}
		}
	}
	score := make([]float64, len(all))
	order := make([]int, len(all))
	for i := range all {
		order[i] = i
		for j := range words {
			if have[i][j] {
				score[i] += 1 / rare[j]
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	order = order[:min(len(order), max(1, bytes/window))]
	slices.Sort(order)
	var out strings.Builder
	for n, i := range order {
		if n > 0 && order[n-1] != i-1 {
			out.WriteString("\n…\n")
		}
		out.WriteString(all[i])
	}
	return display.Head(out.String(), bytes)
}
