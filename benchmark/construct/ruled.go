// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
)

var (
	_ Asker   = Rules{}
	_ Checker = Rules{}
)

// Names and numbers that a gap may take the place of.
var gapPattern = regexp.MustCompile(`\p{Lu}[\p{L}\p{M}'’.-]*(?: (?:of|the|de|van|von|and) \p{Lu}[\p{L}\p{M}'’-]*| \p{Lu}[\p{L}\p{M}'’-]*)*|[0-9][0-9.,:]*[0-9%]|[0-9]`)

// Ask makes a gap in the place of the last name or number of a fact that is not in the
// article's title; a fact without one gives no question. Of a section it asks for an
// overview.
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

// The share of a statement's content words that one window of a page must hold, and how
// much of what the pages hold together one of them may hold alone.
const (
	supportShare = 0.6
	aloneShare   = 0.85
)

// Supports tells whether the best window of a page holds most of the statement's words,
// or those of several pages together.
func (Rules) Supports(_ context.Context, _ string, d Draft) (Verdict, error) {
	_, together := shares(d.statement(), d.Pages)
	return atLeast(together, supportShare, "of the statement's words stand in one place of its pages"), nil
}

// Joint tells whether no page alone holds nearly all that they hold together.
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
		_, together := shares(t.Statement, citedBy(d.Pages, t))
		out[i] = atLeast(together, supportShare, "of the statement's words stand in one place of its pages")
	}
	return out, ctx.Err()
}

func atLeast(share, want float64, of string) Verdict {
	if share >= want {
		return Verdict{OK: true}
	}
	return Verdict{Reason: fmt.Sprintf("%.0f %% %s", 100*share, of)}
}

// shares of a statement's content words: the most that a window of any page holds, and
// what the best windows of all pages hold together.
func shares(statement string, pages []Page) (alone, together float64) {
	words := terms(statement)
	if len(words) == 0 {
		return 0, 0
	}
	union := make([]bool, len(words))
	for _, p := range pages {
		best, most := -1, 0
		have := held(windows(p.Text), words)
		for i, h := range have {
			n := 0
			for _, has := range h {
				if has {
					n++
				}
			}
			if n > most {
				best, most = i, n
			}
		}
		if best >= 0 {
			for j, has := range have[best] {
				union[j] = union[j] || has
			}
		}
		alone = max(alone, float64(most)/float64(len(words)))
	}
	for _, has := range union {
		if has {
			together += 1 / float64(len(words))
		}
	}
	return alone, together
}

func citedBy(pages []Page, t Triple) []Page {
	var out []Page
	for _, u := range t.URLs {
		for _, p := range pages {
			if p.URL == u {
				out = append(out, p)
			}
		}
	}
	return out
}
