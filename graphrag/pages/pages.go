// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/internal/segments"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// Retriever ranks pages by their best passages, and selects the units to read within a budget of
// tokens. It is safe for concurrent use.
//
// The score of a page is the sum of the score of its best passage, by BM25 with more weight on the question's
// names and by similarity of vectors if Like is set; BM25 of its title; and BM25 of the names in the whole page;
// less a term that grows with the page, because a long page has a passage for any question. An overview is
// searched for by its aspects as well, since its question names few of them: see Aspects and Plan of [Options].
type Retriever struct {
	o         Options
	words     *text.Standard
	languages map[text.Language]int // number of pages by language; the main one decides the analyzer

	segments          []segments.Segment[*pageIndex]
	first, passages   []int32 // number of the first page and of the first passage of each segment, then the totals
	n                 int     // number of pages that were not deleted
	mixed             bool    // the first pages were not in the order of their IDs
	body, title, page *bm25.Collection
	sorted            func() []int32 // numbers of pages in the order of their IDs
	memory            sync.Pool      // pool of *queryMemory
}

// Options are the options of [New]. A number of 0 means the default, a negative weight switches its part off.
// docs/systems.md has the effect of each.
type Options struct {
	// Names, Title, Page and Length are the weights of the question's names, of the title, of names in the
	// whole page, and of the length of the page.
	Names, Title, Page, Length float64
	// Aspects is the weight of the words that co-occur with the subject of an overview, in
	// the best passages and in their pages (relevance feedback: Lavrenko and Croft, SIGIR
	// 2001). Each of the two sets of words is a search of its own.
	Aspects float64
	// Plan, if set, names the aspects of an overview, and Planned is the score that the best passage for one of
	// them gains. A passage gains by the aspect that it matches best, so each aspect finds its own pages.
	Plan    Plan
	Planned float64
	// Like makes an index that compares questions with tiles of pages ([Page.Tiles]); nil compares by words
	// only. The whole question is compared: without words such as "describe", MiniLM finds 1.5 percentage
	// points less of the gold pages. The similarity of a passage is the similarity of the best tile that it
	// overlaps, so an encoder reads each word once. Likeness is the weight of one standard deviation of the
	// similarities of a question, so that encoders whose cosines lie closer together weigh the same.
	Like     func(ctx context.Context, tiles text.List) (retrieve.Texts, error)
	Likeness float64
	// Among, if set, is the number of pages that are compared with the question by Lazily, instead of all:
	// those best by words, each by the tiles that its best passage overlaps. The selection and the order of
	// these pages do not depend on earlier comparisons.
	Among  int
	Lazily *Lazy
	// Follow, if set, propagates relevance between pages.
	Follow Follow
	// Detail is the value of full coverage of a page, relative to the page itself. Spread is the difference in
	// score that divides the probability of relevance by e, OverviewSpread the same for an overview. With Like
	// or Lazily scores differ more: the default of Spread is doubled, the defaults of OverviewSpread and Aspects
	// are multiplied by 1.5.
	Detail, Spread, OverviewSpread float64
	// Longest limits the tokens that are read of one page. If a question has no budget of tokens, it is the
	// budget of each of K pages. 0 is chunk.DefaultSize.
	Longest int
	// Count counts tokens; nil counts tokens of cl100k.
	Count func(string) int
}

// Follow gets the probability that each page is relevant, in the order of [Page.ID], and returns the
// probabilities after propagation, nil if it changes none. Both lists sum to at most 1.
type Follow func(ctx context.Context, question string, relevance []float64) ([]float64, error)

// The defaults, chosen on WildGraphBench: results hardly change near these values.
const (
	defaultNames          = 0.8
	defaultTitle          = 0.8
	defaultPage           = 0.45
	defaultLength         = 1.2
	defaultAspects        = 0.6
	defaultPlanned        = 45
	defaultLikeness       = 16
	defaultDetail         = 0.5
	defaultSpread         = 6.0
	defaultOverviewSpread = 36.0
	titleB                = 0.5
)

// Defaults returns the options with the defaults in place of zero values.
func (o Options) Defaults() Options {
	spread, overview, aspects := defaultSpread, defaultOverviewSpread, defaultAspects
	if o.Like != nil || o.Lazily != nil {
		spread, overview, aspects = 2*spread, 1.5*overview, 1.5*aspects
	}
	for of, usual := range map[*float64]float64{
		&o.Names: defaultNames, &o.Title: defaultTitle, &o.Page: defaultPage, &o.Length: defaultLength, &o.Aspects: aspects,
		&o.Planned:  defaultPlanned,
		&o.Likeness: defaultLikeness, &o.Detail: defaultDetail, &o.Spread: spread, &o.OverviewSpread: overview,
	} {
		*of = max(cmp.Or(*of, usual), 0)
	}
	o.Longest = cmp.Or(o.Longest, chunk.DefaultSize)
	if o.Count == nil {
		o.Count = tokens.Cl100k().Count
	}
	return o
}

// Retrieve ranks one passage of each page, and reads within the budget of the question; without one, up to
// Longest tokens of each of K pages. The wording of a question does not change its budget; a caller that wants
// to read more for overviews can use [text.ReadQuestion].
func (p *Retriever) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	if err := ctx.Err(); err != nil {
		return graphrag.Found{}, fmt.Errorf("pages: retrieve: %w", err)
	}
	a := p.memory.Get().(*queryMemory)
	defer p.memory.Put(a)
	read := text.ReadQuestion(q.Text)
	order, err := p.rank(ctx, a, q, read)
	if err != nil || len(order) == 0 {
		return graphrag.Nothing(), err
	}
	found := graphrag.Found{Ranked: []graphrag.Hit{}, Evidence: []graphrag.Hit{}}
	if len(a.named) > 0 {
		found.Steps = []graphrag.Step{{Kind: "aspects", Query: q.Text, Found: a.named}}
	}
	for _, x := range order[:min(len(order), q.Want())] {
		found.Ranked = append(found.Ranked, p.best(a, x))
	}
	budget, most := q.Tokens, len(order)
	if budget <= 0 {
		budget, most = q.Reads()*p.o.Longest, min(most, q.Reads())
	}
	spread := p.o.Spread
	if read.Overview {
		spread = p.o.OverviewSpread
	}
	p.candidates(a, order[:min(most, budget/minOpening+1)], spread)
	a.spend(budget, most)
	found.Evidence = p.evidence(a, budget)
	if len(found.Evidence) == 0 && q.Tokens > 0 { // no passage fits: the best one is cut
		if part, _ := retrieve.Fit([]graphrag.Hit{p.best(a, order[0])}, nil, q.Tokens, p.o.Count); part[0].Chunk.Text != "" {
			found.Evidence = part
		}
	}
	return found, nil
}

// at returns the segment of a page, and the index of the page in the segment.
func (p *Retriever) at(page int32) (at int, n int32) {
	for page >= p.first[at+1] {
		at++
	}
	return at, page - p.first[at]
}

// best returns the best passage of a page, with the score of the page.
func (p *Retriever) best(a *queryMemory, x rank.Scored[int32]) graphrag.Hit {
	at, n := p.at(x.ID)
	ix, best := p.segments[at].Index, a.best[x.ID]
	first := int(best - ix.first[n])
	return graphrag.Hit{Chunk: led(&ix.pages[n], first, ix.pages[n].Ends[first]), Score: x.Score, Source: pagesSource}
}

const (
	pagesSource = "pages"
	minOpening  = 100 // least number of tokens read of a page, unless it is shorter
)

// candidates prepares the candidates for a selection, best page first.
func (p *Retriever) candidates(a *queryMemory, order []rank.Scored[int32], spread float64) {
	if more := len(order) - cap(a.list); more > 0 {
		a.list = append(a.list[:cap(a.list)], make([]candidate, more)...)
	}
	a.list = a.list[:len(order)]
	for i, x := range order {
		c := &a.list[i]
		at, n := p.at(x.ID)
		ix := p.segments[at].Index
		c.score, c.page, c.title, c.longest = x.Score, &ix.pages[n], ix.titles[n], p.o.Longest
		c.relevance = math.Exp((x.Score - order[0].Score) / spread)
		c.first = int(a.best[x.ID] - ix.first[n])
		c.end = c.page.Ends[c.first]
		c.prepare(ix.units, n, &a.queryTerms, a.number[at])
	}
}

// queryMemory is the reused memory for one question.
type queryMemory struct {
	queryTerms
	spender
	query   []bm25.Term
	passage []float64 // scores of passages
	fields  []float64 // scores of pages by title, names and length
	more    []float64
	score   []float64 // scores of pages
	best    []int32   // best passage of each page, by its index in the segment
	order   []rank.Scored[int32]
	aspectMemory
}

// rank scores the pages that match a question, and orders them, best first.
func (p *Retriever) rank(ctx context.Context, a *queryMemory, q graphrag.Question, read text.Wording) ([]rank.Scored[int32], error) {
	a.queryTerms.clear()
	a.named = nil
	a.queryTerms.add(p, read.Words, 1)
	a.queryTerms.add(p, read.Names, p.o.Names)
	a.query = a.queryTerms.query(a.query)
	a.passage = p.body.ScoresOf(a.query, a.passage)
	if p.o.Like != nil && p.o.Likeness > 0 {
		if err := p.like(ctx, a, q.Text); err != nil {
			return nil, err
		}
	}
	a.fields = p.title.AllScores(read.Words, a.fields)
	for i := range a.fields {
		a.fields[i] *= p.o.Title
	}
	a.more = p.page.AllScores(read.Names, a.more)
	add(a.fields, a.more, p.o.Page)
	p.order(a)
	if p.o.Lazily != nil && p.o.Among > 0 && len(a.order) > 0 {
		if err := p.among(ctx, a, q.Text); err != nil {
			return nil, err
		}
		p.order(a)
	}
	if read.Overview && len(a.order) > 0 {
		if err := p.aspects(ctx, a, q.Text); err != nil {
			return nil, err
		}
		p.order(a)
	}
	if p.o.Follow != nil && len(a.order) > 0 {
		if err := p.follow(ctx, a, q.Text); err != nil {
			return nil, err
		}
	}
	return a.order, nil
}

// add adds the terms of some words; times is added to the weight of a term at each occurrence.
func (k *queryTerms) add(p *Retriever, words string, times float64) {
	a := p.words.For(words)
	a.Words(words, func(word []byte) bool {
		term, ok := a.Term(string(word))
		if !ok {
			return true
		}
		at := slices.Index(k.terms, term)
		if at < 0 {
			marked := len(k.marked)
			for i := range p.segments {
				u := p.segments[i].Index.units
				if t := u.terms.Find([]byte(term)); t >= 0 && u.df[t] > 0 {
					k.marked = append(k.marked, segments.Origin{Segment: i, Doc: int32(t)})
				}
			}
			if len(k.marked) == marked {
				return true
			}
			if len(k.terms) == maxAsked {
				return false
			}
			at = len(k.terms)
			k.terms, k.times, k.rarity = append(k.terms, term), append(k.times, 0), append(k.rarity, p.rarity([]byte(term)))
			for _, m := range k.marked[marked:] {
				k.number[m.Segment][m.Doc] = uint8(len(k.terms))
			}
		}
		k.times[at] += times
		return true
	})
}

// like adds the similarities of all passages to their scores.
func (p *Retriever) like(ctx context.Context, a *queryMemory, question string) (err error) {
	var all deviation
	scores := make([][]float64, len(p.segments))
	for i, s := range p.segments {
		if scores[i], err = s.Index.like.Scores(ctx, question, nil); err != nil {
			return err
		}
		for n := range s.Set().All() {
			all.add(scores[i][s.Index.tile[n]:s.Index.tile[n+1]])
		}
	}
	weight := p.o.Likeness / all.value()
	for i, s := range p.segments {
		of := a.passage[p.passages[i]:]
		for c := range s.Index.passages {
			of[c] += weight * slices.Max(scores[i][s.Index.tiles[2*c]:s.Index.tiles[2*c+1]])
		}
	}
	return nil
}

// among adds the similarities of the best passages of the pages that are best by words, less the smallest of
// these similarities.
func (p *Retriever) among(ctx context.Context, a *queryMemory, question string) error {
	var tiles []string
	var ends []int // end of the tiles of each page
	best := a.order[:min(p.o.Among, len(a.order))]
	for _, x := range best {
		at, n := p.at(x.ID)
		ix, c := p.segments[at].Index, a.best[x.ID]
		page := &ix.pages[n]
		for _, first := range page.Tiles()[ix.tiles[2*c]-ix.tile[n] : ix.tiles[2*c+1]-ix.tile[n]] {
			tiles = append(tiles, page.Chunk(first, page.Ends[first]).Titled())
		}
		ends = append(ends, len(tiles))
	}
	scores, err := p.o.Lazily.Scores(ctx, question, tiles)
	if err != nil {
		return err
	}
	var all deviation
	all.add(scores)
	weight, least, from := p.o.Likeness/all.value(), slices.Min(scores), 0
	for i, x := range best {
		at, _ := p.at(x.ID)
		a.passage[p.passages[at]+a.best[x.ID]] += weight * (slices.Max(scores[from:ends[i]]) - least)
		from = ends[i]
	}
	return nil
}

// The prior of the standard deviation of similarities: the one of MiniLM, weighted as many tiles, because few
// tiles give a poor estimate.
const (
	usualDeviation = 0.1
	usualTiles     = 100
)

// deviation computes the standard deviation of similarities, averaged with its prior. Similarities are rounded
// to integers, so that the sum does not depend on their order.
type deviation struct{ n, sum, squares int64 }

const stepsOfOne = 1 << 18

func (d *deviation) add(similarities []float64) {
	for _, s := range similarities {
		steps := int64(math.Round(s * stepsOfOne))
		d.n, d.sum, d.squares = d.n+1, d.sum+steps, d.squares+steps*steps
	}
}

func (d *deviation) value() float64 {
	n, sum := float64(d.n), float64(d.sum)
	around := (float64(d.squares) - sum/max(n, 1)*sum) / (stepsOfOne * stepsOfOne)
	return math.Sqrt((usualTiles*usualDeviation*usualDeviation + max(around, 0)) / (usualTiles + n))
}

// aspects adds the scores that pages get by the aspects of an overview.
func (p *Retriever) aspects(ctx context.Context, a *queryMemory, question string) error {
	if p.o.Aspects > 0 {
		a.query = a.query[:0]
		p.comes(a, aspectPassages, func(ix *pageIndex, n, best int32) (from, end int) {
			first := int(best - ix.first[n])
			return first, ix.pages[n].Ends[first]
		})
		p.comes(a, aspectPages, func(ix *pageIndex, n, _ int32) (from, end int) { return 0, len(ix.pages[n].Units) })
	}
	if err := p.plan(ctx, a, question); err != nil {
		return err
	}
	if p.o.Aspects > 0 {
		a.more = p.body.ScoresOf(a.query, a.more)
		add(a.passage, a.more, p.o.Aspects)
		if p.o.Title > 0 {
			a.more = p.title.ScoresOf(a.query, a.more)
			add(a.fields, a.more, p.o.Aspects)
		}
	}
	return nil
}

// plan adds the scores of passages by the planned aspects. The scores of an aspect are divided by its best one,
// so that no aspect displaces the pages of another.
func (p *Retriever) plan(ctx context.Context, a *queryMemory, question string) error {
	if p.o.Plan == nil || p.o.Planned == 0 {
		return nil
	}
	var titles []string
	for _, x := range a.order {
		at, n := p.at(x.ID)
		if t := p.segments[at].Index.pages[n].Title; t != "" && !slices.Contains(titles, t) {
			titles = append(titles, t)
		}
		if len(titles) == planTitles {
			break
		}
	}
	named, err := p.o.Plan(ctx, question, titles)
	if err != nil {
		return fmt.Errorf("pages: plan the aspects of an overview: %w", err)
	}
	a.named = named[:min(len(named), MaxAspects)]
	a.planned = zeros(a.planned, len(a.passage))
	for _, aspect := range a.named {
		a.more = p.body.AllScores(text.ReadQuestion(aspect).Words, a.more)
		if best := slices.Max(a.more); best > 0 {
			for i, s := range a.more {
				a.planned[i] = max(a.planned[i], s/best)
			}
		}
	}
	add(a.passage, a.planned, p.o.Planned)
	return nil
}

// follow orders pages by their probability after propagation by Follow.
func (p *Retriever) follow(ctx context.Context, a *queryMemory, question string) error {
	a.more = zeros(a.more, len(a.score))
	sum := 0.0
	for _, x := range a.order {
		relevance := math.Exp((x.Score - a.order[0].Score) / p.o.Spread)
		a.more[x.ID] = relevance
		sum += relevance
	}
	sorted := p.sorted()
	before := make([]float64, len(sorted))
	for i, page := range sorted {
		before[i] = a.more[page] / sum
	}
	relevance, err := p.o.Follow(ctx, question, before)
	if err != nil || relevance == nil {
		return err
	}
	if len(relevance) != len(sorted) {
		return fmt.Errorf("pages: Follow returned %d probabilities for %d pages", len(relevance), len(sorted))
	}
	a.order = a.order[:0]
	for i, x := range relevance {
		page := sorted[i]
		at, n := p.at(page)
		if ix := p.segments[at].Index; x > 0 && ix.first[n] < ix.first[n+1] {
			a.score[page] = p.o.Spread * math.Log(x)
			a.order = append(a.order, rank.Scored[int32]{ID: page, Score: a.score[page]})
		}
	}
	slices.SortFunc(a.order, p.compare)
	return nil
}

// add adds scores, times a weight, to other scores.
func add(to, scores []float64, weight float64) {
	for i, s := range scores {
		to[i] += weight * s
	}
}

// order adds up the scores of pages, and orders the pages whose score without the term for length is not 0.
func (p *Retriever) order(a *queryMemory) {
	n := int(p.first[len(p.segments)])
	a.best, a.score, a.order = zeros(a.best, n), zeros(a.score, n), a.order[:0]
	for at := range p.segments {
		s, passage := &p.segments[at], a.passage[p.passages[at]:]
		for i := range s.Index.pages {
			best, to := s.Index.first[i], s.Index.first[i+1]
			if best == to || s.Live != nil && !s.Live.Has(int32(i)) {
				continue
			}
			for c := best + 1; c < to; c++ {
				if passage[c] > passage[best] {
					best = c
				}
			}
			page := p.first[at] + int32(i)
			a.best[page] = best
			if found := passage[best] + a.fields[page]; found != 0 {
				a.score[page] = found - p.o.Length*s.Index.length[i]
				a.order = append(a.order, rank.Scored[int32]{ID: page, Score: a.score[page]})
			}
		}
	}
	slices.SortFunc(a.order, p.compare)
}
