// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm"
)

// Parts are the components of a build: Rules, ByModel, or others.
type Parts struct {
	State Stater
	Ask   Asker
	Check Checker
	// Keep filters pages; nil keeps all that are not Poor.
	Keep func(ctx context.Context, article string, p Page) (Verdict, error)
	// Progress, if not nil, is called at the beginning of a stage and after each finished piece of it, never
	// concurrently. The name of the stage is the one in usage figures.
	Progress func(stage string, done, total int)
}

// begin reports the beginning of a stage to Progress. The returned function reports a finished piece.
func (p Parts) begin(stage string, total int) (done func()) {
	if p.Progress == nil {
		return func() {}
	}
	var mu sync.Mutex
	n := 0
	p.Progress(stage, 0, total)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		n++
		p.Progress(stage, n, max(n, total))
	}
}

// Build is a topic, with the items that were dropped on the way to it.
type Build struct {
	Topic `json:"-"`
	Stats Stats `json:"stats"`
	// Unfetched are sources without a page, Unkept pages that a filter rejected, Ungrounded sentences that are
	// not gold, Unasked drafts without a question.
	Unfetched  []Dropped `json:"unfetched,omitempty"`
	Unkept     []Dropped `json:"unkept,omitempty"`
	Ungrounded []Dropped `json:"ungrounded,omitempty"`
	Unasked    []Dropped `json:"unasked,omitempty"`
}

// ErrNoReferences reports an article without a reference list.
var ErrNoReferences = errors.New("the article has no reference list with links: " +
	"it takes a heading References and numbered items, and marks such as [[12]](#cite_note-12) or [^12] in the text")

// Make builds a topic from an article and the pages of its sources. It is a function of its arguments: with
// cached replies (paid.Client), a second call returns the same without any call of a model.
func Make(ctx context.Context, domain string, a *Article, source string, refs []Reference, collected []Collected, p Parts, n Numbers) (*Build, error) {
	b := &Build{Topic: Topic{Domain: domain, Title: a.Title, Text: source, Sources: refs}}
	n.Concurrency = cmp.Or(n.Concurrency, 8)
	if len(refs) == 0 {
		return nil, fmt.Errorf("construct: %s: %w", a.Title, ErrNoReferences)
	}
	if err := b.keep(ctx, refs, collected, p, n.Concurrency); err != nil {
		return nil, err
	}
	if len(b.Pages) == 0 {
		return nil, fmt.Errorf("construct: %s: none of %d sources has a page: %w", a.Title, len(refs), errors.Join(reasons(b.Unfetched), reasons(b.Unkept)))
	}
	if err := b.ground(ctx, a, p, n.Concurrency); err != nil {
		return nil, err
	}
	page := make(map[string]Page, len(b.Pages))
	for _, p := range b.Pages {
		page[p.URL] = p
	}
	var err error
	b.Questions, b.Unasked, err = Questions(ctx, b.Gold, func(url string) (Page, bool) { p, ok := page[url]; return p, ok }, p, n)
	if err != nil {
		return nil, err
	}
	b.Stats = statsOf(b.Topic)
	return b, nil
}

// reasons joins the first few reasons.
func reasons(all []Dropped) (err error) {
	for _, d := range all[:min(len(all), 3)] {
		err = errors.Join(err, fmt.Errorf("%s: %s", d.What, d.Reason))
	}
	return err
}

// keep filters the pages.
func (b *Build) keep(ctx context.Context, refs []Reference, collected []Collected, p Parts, limit int) error {
	got := make(map[string]Collected, len(collected))
	for _, c := range collected {
		got[c.URL] = c
	}
	verdicts := make([]Verdict, len(refs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(limit)
	page := func(r Reference) Page { return Page{Title: r.Title, URL: r.URL, Text: got[r.URL].Text} }
	done := p.begin(StagePages, len(refs))
	for i, r := range refs {
		g.Go(func() (err error) {
			defer done()
			if verdicts[i].OK = got[r.URL].Text != ""; verdicts[i].OK && p.Keep != nil {
				verdicts[i], err = p.Keep(ctx, b.Title, page(r))
			}
			if err != nil && llm.OfOneReply(err) {
				verdicts[i], err = Verdict{OK: true}, nil // a page without a usable verdict is kept
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("construct: filtering pages: %w", err)
	}
	for i, r := range refs {
		switch c := got[r.URL]; {
		case c.Text == "":
			b.Unfetched = append(b.Unfetched, Dropped{r.URL, cmp.Or(c.Reason, "not asked for")})
		case !verdicts[i].OK:
			b.Unkept = append(b.Unkept, Dropped{r.URL, verdicts[i].Reason})
		default:
			b.Pages = append(b.Pages, page(r))
		}
	}
	return nil
}

// ground extracts and grounds the statements of the sections.
func (b *Build) ground(ctx context.Context, a *Article, p Parts, limit int) error {
	paged := make(map[string]bool)
	for _, p := range b.Pages {
		paged[p.URL] = true
	}
	grounds := NewGrounds(a.Citations(), func(url string) bool { return paged[url] })
	sections := a.Sections()
	stated := make([][]Stated, len(sections))
	lost := make([]string, len(sections))
	done := p.begin(StageState, len(sections))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(limit)
	for i, section := range sections {
		g.Go(func() (err error) {
			defer done()
			stated[i], err = p.State.State(ctx, a, section)
			if err != nil && llm.OfOneReply(err) {
				lost[i], err = display.OneLine(err.Error()), nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("construct: writing statements: %w", err)
	}
	for i, section := range sections {
		if lost[i] != "" {
			b.Ungrounded = append(b.Ungrounded, Dropped{strings.Join(section.Path, " > "), lost[i]})
		}
		gold, dropped := grounds.Ground(a, section, stated[i])
		if b.Ungrounded = append(b.Ungrounded, dropped...); len(gold.Triples) > 0 {
			b.Gold = append(b.Gold, gold)
		}
	}
	return nil
}

// Stats are the figures of a topic that the WildGraphBench paper gives in Tables 1 and 5.
type Stats struct {
	Domain  string `json:"domain"`
	Article string `json:"article"`
	Sources int    `json:"sources"`
	Pages   int    `json:"pages"`
	Words   int    `json:"words"`  // words of all pages
	Tokens  int    `json:"tokens"` // tokens of all pages (cl100k)
	// Sections is the number of sections with at least one triple.
	Sections   int `json:"sections"`
	Triples    int `json:"triples"`
	SingleFact int `json:"single_fact"`
	MultiFact  int `json:"multi_fact"`
	Summary    int `json:"summary"`
	// Overlap is the number of questions of one fact whose answer is also a gold statement of a summary: the
	// gold of one question reveals the answer to another.
	Overlap int `json:"overlap"`
}

func statsOf(t Topic) Stats {
	s := Stats{Domain: t.Domain, Article: t.Title, Sources: len(t.Sources), Pages: len(t.Pages), Sections: len(t.Gold)}
	for _, p := range t.Pages {
		s.Words += len(strings.Fields(p.Text))
		s.Tokens += tokens.Cl100k().Count(p.Text)
	}
	for _, g := range t.Gold {
		s.Triples += len(g.Triples)
	}
	of := map[string]*int{wildgraph.Summary: &s.Summary, wildgraph.SingleFact: &s.SingleFact, releasedType(wildgraph.MultiFact): &s.MultiFact}
	for _, q := range t.Questions {
		*of[q.Type[0]]++
	}
	s.Overlap = overlaps(t.Questions)
	return s
}

// overlaps computes the value of [Stats].Overlap.
func overlaps(questions []Question) (n int) {
	var gold []string
	for _, q := range questions {
		gold = append(gold, q.Statements...)
	}
	slices.Sort(gold)
	for _, q := range questions {
		if _, found := slices.BinarySearch(gold, q.Answer); found && q.Answer != "" {
			n++
		}
	}
	return n
}
