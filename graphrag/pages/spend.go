// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/segments"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Evidence is selected greedily within a budget of tokens. Its value is
//
//	Σ over the pages p that are read of  relevance(p) · (1 + Detail · coverage(p))
//
// relevance(p) is proportional to the probability that p is relevant: exp((score(p) - best
// score) / Spread). An overview has many relevant pages and a larger Spread. coverage(p) is how
// well the units of p that are read cover the terms of the question:
//
//	coverage(p) = Σ over the terms t of the question of  share(t) · tf/(tf+saturation)
//
// tf is the frequency of t in these units; the shares add up to 1 and are proportional to the mean of the IDF
// among the pages and among the units of p: a word that the whole page repeats does not say which unit to read. A
// unit next to one that is read has a small value whatever its words, since texts continue.
//
// Each step takes the item with the largest gain per token: the best passage of another page, or one more unit of
// a page that is read already. Gains diminish, so this is the greedy algorithm for a submodular function under a
// budget (Khuller, Moss and Naor, IPL 70, 1999). With many similar pages it adds pages; where one stands out it
// reads more of that page.
const (
	saturation = 2.0
	localShare = 0.5
	besideGain = 0.02
)

// gap replaces the units that are left out between two runs of units. It is a paragraph of its own, so that a
// reader notices it.
const (
	gap       = "\n\n…\n\n"
	gapTokens = 3
)

// candidate is a page from which units may be read.
type candidate struct {
	page       *Page
	score      float64
	relevance  float64
	title      int // number of tokens of the title
	longest    int // largest number of tokens to read of the page
	first, end int // units of the best passage: first to end-1

	share []float64 // share of each term of the question
	tf    []float64 // frequency of each term in the units that are read
	hits  []int32   // units with a term of the question, ascending
	freq  []uint8   // frequency of each term in each unit of hits
	read  []bool    // for each unit: it is read
	open  bool      // at least one unit is read
	used  int       // number of tokens of the units that are read

	next  int     // unit with the largest gain per token, or -1
	value float64 // gain per token of the unit next
}

// step is one selection: of a unit, or of the best passage of a page.
type step struct {
	candidate int
	unit      int // -1 for the best passage
}

// spender selects units of candidates within a budget. Its memory is reused.
type spender struct {
	detail float64
	list   []candidate
	steps  []step
}

// spend selects units within a budget of tokens, from at most most pages.
func (s *spender) spend(budget, most int) {
	s.steps = s.steps[:0]
	for opened := 0; ; {
		best, value := -1, 0.0
		for i := range s.list {
			c := &s.list[i]
			v := 0.0
			switch {
			case !c.open:
				if n := s.opening(c); n <= budget && opened < most {
					v = c.relevance / float64(n)
				}
			case c.next >= 0:
				if s.price(c, c.next) > budget {
					s.advance(c, budget)
				}
				v = c.value
			}
			if v > value {
				best, value = i, v
			}
		}
		if best < 0 {
			return
		}
		c := &s.list[best]
		if !c.open {
			opened++
			budget -= s.opening(c)
			s.steps = append(s.steps, step{best, -1})
			c.open = true
			for u := c.first; u < c.end; u++ {
				s.take(c, u)
			}
		} else {
			budget -= s.price(c, c.next)
			s.steps = append(s.steps, step{best, c.next})
			s.take(c, c.next)
		}
		s.advance(c, budget)
	}
}

// undo reverts the last selection, and returns the index of its candidate.
func (s *spender) undo() int {
	last := s.steps[len(s.steps)-1]
	s.steps = s.steps[:len(s.steps)-1]
	c := &s.list[last.candidate]
	if last.unit < 0 {
		c.open = false
	} else {
		c.read[last.unit] = false
		c.used -= c.page.Units[last.unit].Tokens
	}
	return last.candidate
}

// opening returns the number of tokens of the best passage of a page and of the title.
func (s *spender) opening(c *candidate) int {
	return c.page.Tokens(c.first, c.end) + c.title
}

// price returns the number of tokens that one more unit adds.
func (s *spender) price(c *candidate, unit int) int {
	n := c.page.Units[unit].Tokens
	if !c.beside(unit) {
		n += gapTokens
	}
	return n
}

// beside reports whether the unit before or after a unit is read.
func (c *candidate) beside(unit int) bool {
	return unit > 0 && c.read[unit-1] || unit+1 < len(c.read) && c.read[unit+1]
}

// take marks a unit as read.
func (s *spender) take(c *candidate, unit int) {
	c.read[unit] = true
	c.used += c.page.Units[unit].Tokens
	if i, ok := slices.BinarySearch(c.hits, int32(unit)); ok {
		for t := range c.tf {
			c.tf[t] += float64(c.freq[i*len(c.tf)+t])
		}
	}
}

// advance finds the unread unit of a page with the largest gain per token.
func (s *spender) advance(c *candidate, budget int) {
	c.next, c.value = -1, 0
	hit := 0
	for unit := range c.read {
		isHit := hit < len(c.hits) && int(c.hits[hit]) == unit
		if isHit {
			hit++
		}
		beside := c.beside(unit)
		if c.read[unit] || !isHit && !beside {
			continue
		}
		price := s.price(c, unit)
		if price > budget || c.used+price > c.longest {
			continue
		}
		gain := 0.0
		if isHit {
			gain = c.gain(hit - 1)
		}
		if beside {
			gain += besideGain
		}
		if v := c.relevance * s.detail * gain / float64(price); v > c.value {
			c.next, c.value = unit, v
		}
	}
}

// gain returns the gain in coverage by a unit, given by its index in hits.
func (c *candidate) gain(hit int) (sum float64) {
	n := len(c.tf)
	for t, f := range c.freq[hit*n : hit*n+n] {
		if f > 0 {
			tf := c.tf[t]
			sum += c.share[t] * ((tf+float64(f))/(tf+float64(f)+saturation) - tf/(tf+saturation))
		}
	}
	return sum
}

// prepare counts the terms of the question in each unit of a page, which is a run of sentences. number[t] is 1
// plus the index in k.terms of term t of the page's index, 0 if the question does not contain t.
func (c *candidate) prepare(u *unitIndex, page int32, k *queryTerms, number []uint8) {
	n, from, to := len(k.terms), u.first[page], u.first[page+1]
	c.share, c.tf, c.read = zeros(c.share, n), zeros(c.tf, n), zeros(c.read, to-from)
	c.hits, c.freq = c.hits[:0], c.freq[:0]
	c.open, c.used, c.next, c.value = false, 0, -1, 0
	for unit := from; unit < to; unit++ {
		at := -1
		for _, t := range u.across(unit, unit+1) {
			j := int(number[t])
			if j == 0 {
				continue
			}
			if at < 0 {
				at = len(c.freq)
				c.freq = append(c.freq, make([]uint8, n)...)
				c.hits = append(c.hits, int32(unit-from))
			}
			f := &c.freq[at+j-1]
			if *f == 0 {
				c.share[j-1]++ // at first a number of units, below the share of the term
			}
			*f = min(*f, math.MaxUint8-1) + 1
		}
	}
	all := 0.0
	for j := range k.terms {
		c.share[j] = k.times[j] * ((1-localShare)*k.rarity[j] + localShare*idf(c.share[j], float64(to-from)))
		all += c.share[j]
	}
	for j := range c.share {
		c.share[j] /= all
	}
}

// evidence returns the selected units as chunks, the best page first, units in the order of the page. The
// tokens of whole chunks are counted again, and the last selections are reverted until the chunks fit.
func (p *Retriever) evidence(a *queryMemory, budget int) []graphrag.Hit {
	cost := make([]int, len(a.list))
	chunks := make([]graphrag.Chunk, len(a.list))
	all := 0
	measure := func(i int) {
		all -= cost[i]
		cost[i] = 0
		if c := &a.list[i]; c.open {
			chunks[i] = c.chunk()
			cost[i] = p.o.Count(chunks[i].Prompt())
		}
		all += cost[i]
	}
	for i := range a.list {
		measure(i)
	}
	for all > budget && len(a.steps) > 0 {
		measure(a.undo())
	}
	hits := []graphrag.Hit{}
	for i := range a.list {
		if c := &a.list[i]; c.open {
			hits = append(hits, graphrag.Hit{Chunk: chunks[i], Score: c.score, Source: pagesSource})
		}
	}
	return hits
}

// chunk returns the units of a page that are read, with a gap where units are left out.
func (c *candidate) chunk() graphrag.Chunk {
	out := led(c.page, c.first, c.end)
	if c.used == out.Tokens {
		return out
	}
	var b strings.Builder
	for u := 0; u < len(c.read); u++ {
		if !c.read[u] {
			continue
		}
		from := u
		for u+1 < len(c.read) && c.read[u+1] {
			u++
		}
		run := led(c.page, from, u+1)
		if b.Len() > 0 {
			b.WriteString(gap + run.Lead)
		} else {
			out.Start, out.Lead = run.Start, run.Lead
		}
		b.WriteString(run.Text)
		out.End = run.End
	}
	out.Text, out.Tokens = b.String(), c.used
	return out
}

// zeros returns a list of n zeros, which reuses the memory of old.
func zeros[T any](old []T, n int) []T {
	old = slices.Grow(old[:0], n)[:n]
	clear(old)
	return old
}

// unitIndex holds the numbers of the terms of the units of all pages, in one list.
type unitIndex struct {
	terms *text.Vocabulary
	of    []int32 // terms in the order of the text
	ends  []int   // end of each unit in of
	first []int   // first unit of each page, then the number of units
	df    []int32 // number of pages with each term
}

// newUnits reads the pages in sequence, so that the numbers of terms do not depend on concurrency.
func newUnits(ctx context.Context, pages []Page, a text.Analyzer) (*unitIndex, error) {
	numbers := new(text.Vocabulary).Numbering(a)
	u := &unitIndex{terms: numbers.Terms(), first: make([]int, 1, len(pages)+1)}
	var last []int // number, from 1, of the last page with each term
	page := 0
	count := func(terms []int32) bool {
		for _, t := range terms {
			if t < 0 {
				continue
			}
			if int(t) == len(last) {
				last, u.df = append(last, 0), append(u.df, 0)
			}
			if last[t] != page {
				last[t] = page
				u.df[t]++
			}
			u.of = append(u.of, t)
		}
		return true
	}
	for i := range pages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		page = i + 1
		in := numbers.For(pages[i].Text)
		for _, unit := range pages[i].Units {
			in.Text(pages[i].Text[unit.Start:unit.End], count)
			u.ends = append(u.ends, len(u.of))
		}
		u.first = append(u.first, len(u.ends))
	}
	return u, nil
}

// across returns the terms of the units from to end-1.
func (u *unitIndex) across(from, end int) []int32 {
	if from == end {
		return nil
	}
	start := 0
	if from > 0 {
		start = u.ends[from-1]
	}
	return u.of[start:u.ends[end-1]]
}

// rarity returns the IDF of a term among the pages.
func (p *Retriever) rarity(term []byte) float64 {
	df := int32(0)
	for i := range p.segments {
		u := p.segments[i].Index.units
		if t := u.terms.Find(term); t >= 0 {
			df += u.df[t]
		}
	}
	return idf(float64(df), float64(p.n))
}

// idf is BM25's weight of a term that n of all texts contain.
func idf(n, all float64) float64 { return math.Log(1 + (all-n+.5)/(n+.5)) }

// maxAsked limits the distinct terms of a question.
const maxAsked = 255

// queryTerms holds the terms of a question with their weights.
type queryTerms struct {
	terms  []string
	times  []float64
	rarity []float64
	number [][]uint8         // for each segment, by the number of a term: index in terms plus 1, 0 if it is not in the question
	marked []segments.Origin // positions in number that are not 0
}

// query returns the terms as a weighted query.
func (k *queryTerms) query(dst []bm25.Term) []bm25.Term {
	dst = dst[:0]
	for i, term := range k.terms {
		if k.times[i] > 0 {
			dst = append(dst, bm25.Term{Text: term, Weight: k.times[i]})
		}
	}
	return dst
}

// clear removes the terms of the question.
func (k *queryTerms) clear() {
	for _, m := range k.marked {
		k.number[m.Segment][m.Doc] = 0
	}
	k.terms, k.times, k.rarity, k.marked = k.terms[:0], k.times[:0], k.rarity[:0], k.marked[:0]
}

// Plan names aspects of an overview: parts of the subject that its question does not name, each as a query.
// titles are the titles of the pages found for the question, best first. Aspects beyond [MaxAspects] are
// ignored.
type Plan func(ctx context.Context, question string, titles []string) ([]string, error)

// MaxAspects is the largest number of aspects of an overview that are searched for. A summary of WildGraphBench
// has five statements on average.
const MaxAspects = 8

// Relevance feedback: the numbers of the best passages and of the best pages from which terms are taken, and
// the number of terms that are searched for. docs/systems.md has other settings.
const (
	aspectPassages = 10
	aspectPages    = 20
	aspectTerms    = 100
	planTitles     = 20
)

// aspectMemory is the reused memory for the aspects of an overview.
type aspectMemory struct {
	seen    *text.Vocabulary // terms with a weight, in the order of occurrence
	weight  []float64
	count   []int32 // frequency of each term of a segment in a page
	here    []int32 // distinct terms of a page
	come    []rank.Scored[int32]
	named   []string  // aspects that the plan named
	planned []float64 // gain of each passage by the plan
}

// comes adds to the query the terms that co-occur with the subject in the given units of the best pages. The
// weight of a term is the sum, over these pages, of the probability of relevance times the saturated frequency,
// times the IDF, scaled so that the largest weight is 1.
func (p *Retriever) comes(a *queryMemory, pages int, of func(ix *pageIndex, n, best int32) (from, end int)) {
	best := a.order[0].Score
	a.seen, a.weight, a.come = new(text.Vocabulary), a.weight[:0], a.come[:0]
	for _, x := range a.order[:min(len(a.order), pages)] {
		at, n := p.at(x.ID)
		ix, number := p.segments[at].Index, a.number[at]
		from, end := of(ix, n, a.best[x.ID])
		unit := ix.units.first[n]
		a.here = a.here[:0]
		for _, t := range ix.units.across(unit+from, unit+end) {
			if number[t] != 0 {
				continue // it is a term of the question
			}
			if a.count[t] == 0 {
				a.here = append(a.here, t)
			}
			a.count[t]++
		}
		relevance := math.Exp((x.Score - best) / p.o.OverviewSpread)
		for _, t := range a.here {
			i, added := a.seen.Add(ix.units.terms.At(int(t)))
			if added {
				a.weight = append(a.weight, 0)
			}
			a.weight[i] += relevance * float64(a.count[t]) / float64(a.count[t]+1)
			a.count[t] = 0
		}
	}
	for i, weight := range a.weight {
		a.come = append(a.come, rank.Scored[int32]{ID: int32(i), Score: weight * p.rarity(a.seen.At(i))})
	}
	for i, x := range rank.Best(a.come, aspectTerms) {
		if i == 0 {
			best = x.Score
		}
		a.query = append(a.query, bm25.Term{Text: string(a.seen.At(int(x.ID))), Weight: x.Score / best})
	}
}
