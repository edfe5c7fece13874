// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// Pages ranks pages by their best passages, and selects the units to read within a budget of
// tokens. It is safe for concurrent use.
//
// The score of a page is the sum of that of its best passage, by BM25 with more weight on
// the question's names and by similarity of vectors if Like is set; BM25 of its title; and
// BM25 of the names in the whole page; less a term that grows with the page, because a long
// page has a passage for any question. An overview is searched for by its aspects as well,
// since its question names few of them: see Aspects and Plan of [PagesOptions].
type Pages struct {
	o     PagesOptions
	pages []chunk.Page
	// passages are all, page by page; first is that of each page, and one behind.
	passages []graphrag.Chunk
	first    []int32
	tiles    []int32   // of each passage the first tile that it overlaps, and one behind the last
	length   []float64 // of each page, ln tokens
	titles   []int     // tokens of each title

	body, title, page *bm25.Index
	units             *units
	words             *text.Standard
	memory            sync.Pool // of *asked
}

// PagesOptions are the options of [NewPages]. A number of 0 means the default, a negative one
// leaves the part out. docs/systems.md has the effect of each.
type PagesOptions struct {
	// Names, Title, Page and Length are the weights of the other parts of the score.
	Names, Title, Page, Length float64
	// Aspects is the weight of the words that co-occur with the subject of an overview, in
	// the best passages and in their pages (relevance feedback: Lavrenko and Croft, SIGIR
	// 2001). Each of the two sets of words is a search of its own.
	Aspects float64
	// Plan, if set, names the aspects of an overview, and Planned is the score that the best
	// passage for one of them gains. A passage gains by the aspect that it matches best, so
	// each aspect finds its own pages.
	Plan    Plan
	Planned float64
	// Like compares questions with the tiles of all pages ([chunk.Page.Tiles]), in their
	// order; nil compares by words only. The similarity of a passage is that of the best
	// tile that it overlaps, so an encoder reads each word once. Likeness is the weight of
	// one standard deviation of the similarities of a question, so that encoders whose
	// cosines lie closer together weigh the same.
	Like     Texts
	Likeness float64
	// Among, if set, is how many pages are compared, in place of all: those that are best by words,
	// each by its best passage and so by the tiles that this overlaps, with Some. Which pages these
	// are and how they are ordered depends on nothing that was compared before.
	Among int
	Some  func(ctx context.Context, query string, tiles []int32) ([]float64, error)
	// Follow, if set, propagates relevance between pages: it is given the probability of
	// each page to be relevant and returns that after propagation. Both sum to at most 1.
	Follow func(ctx context.Context, question string, right []float64) ([]float64, error)
	// Detail is the value of full coverage of a page relative to the page itself. Spread is
	// the difference in score that divides the probability of relevance by e, and
	// OverviewSpread that for an overview. With Like scores differ more: the default of
	// Spread is doubled, those of OverviewSpread and Aspects are multiplied by 1.5.
	Detail, Spread, OverviewSpread float64
	// Longest bounds the tokens that are read of one page, and is the budget of each of K
	// pages where a question has none; 0 is chunk.DefaultSize.
	Longest int
	// Count counts tokens; nil is cl100k.
	Count func(string) int
}

// The defaults, chosen on WildGraphBench from plateaus.
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

// Defaults returns the options with what zero stands for.
func (o PagesOptions) Defaults() PagesOptions {
	spread, overview, aspects := defaultSpread, defaultOverviewSpread, defaultAspects
	if o.Like != nil || o.Some != nil {
		spread, overview, aspects = 2*spread, 1.5*overview, 1.5*aspects
	}
	for of, usual := range map[*float64]float64{
		&o.Names: defaultNames, &o.Title: defaultTitle, &o.Page: defaultPage, &o.Length: defaultLength, &o.Aspects: aspects,
		&o.Planned:  defaultPlanned,
		&o.Likeness: defaultLikeness, &o.Detail: defaultDetail, &o.Spread: spread, &o.OverviewSpread: overview,
	} {
		if *of == 0 {
			*of = usual
		}
		*of = max(*of, 0)
	}
	if o.Longest == 0 {
		o.Longest = chunk.DefaultSize
	}
	if o.Count == nil {
		o.Count = tokens.Cl100k().Count
	}
	return o
}

// NewPages indexes pages, which must not change.
func NewPages(ctx context.Context, pages []chunk.Page, o PagesOptions) (*Pages, error) {
	c := opt.Checks{Of: "retrieve: Pages"}
	opt.Min(&c, "Longest", o.Longest, 0)
	p := &Pages{pages: pages, first: make([]int32, 0, len(pages)+1)}
	p.o = o.Defaults()
	titles, bodies := make([]string, len(pages)), make([]string, len(pages))
	tiles := 0
	for i := range pages {
		page := &pages[i]
		p.first = append(p.first, int32(len(p.passages)))
		p.passages = append(p.passages, page.Passages()...)
		tiles = p.cover(page, tiles)
		p.length = append(p.length, math.Log(float64(1+page.Tokens(0, len(page.Units)))))
		titles[i], bodies[i] = page.Title, page.Text
		p.titles = append(p.titles, p.o.Count(Titled(graphrag.Chunk{Title: page.Title})))
	}
	p.first = append(p.first, int32(len(p.passages)))
	if o.Like != nil {
		c.Want(o.Like.Len() == tiles, "Like", o.Like.Len(), fmt.Sprintf("the %d tiles of the pages", tiles))
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	var errs [5]error
	p.words, errs[0] = wordsOf(bodies)
	p.body, errs[1] = bm25.Build(ctx, p.passages, bm25.Options{Analyzer: p.words})
	p.title, errs[2] = bm25.BuildTexts(ctx, titles, bm25.Options{B: titleB, Analyzer: p.words})
	p.page, errs[3] = bm25.BuildTexts(ctx, bodies, bm25.Options{Analyzer: p.words})
	p.units, errs[4] = newUnits(ctx, pages, p.words)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("retrieve: pages: %w", err)
	}
	p.memory.New = func() any {
		return &asked{
			ask:     ask{number: make([]uint8, p.units.terms.Len())},
			spender: spender{pages: pages, detail: p.o.Detail},
			aspects: aspects{weight: make([]float64, p.units.terms.Len()), count: make([]int32, p.units.terms.Len())},
		}
	}
	return p, nil
}

// wordsOf returns the analyzer of texts: English if most are, else for each its own, and for
// titles and questions that do not tell theirs that of most.
func wordsOf(texts []string) (*text.Standard, error) {
	main := text.Main(texts)
	if main == text.English {
		return text.Default(), nil
	}
	return text.New(text.Options{Language: text.Each, Otherwise: main})
}

// cover records which tiles the passages of a page overlap; before is the number of tiles of
// the pages before it. It returns the number including this page.
func (p *Pages) cover(page *chunk.Page, before int) int {
	tiles := page.Tiles()
	from := 0
	for first, end := range page.Ends {
		for page.Ends[tiles[from]] <= first {
			from++
		}
		to := from + 1
		for to < len(tiles) && tiles[to] < end {
			to++
		}
		p.tiles = append(p.tiles, int32(before+from), int32(before+to))
	}
	return before + len(tiles)
}

// Retrieve ranks one passage of each page, and reads within the budget of the question, or up
// to Longest tokens of each of K pages. The wording of a question does not change its budget;
// a caller that wants more for overviews can ask [text.AsksOverview].
func (p *Pages) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	if err := ctx.Err(); err != nil {
		return graphrag.Found{}, fmt.Errorf("retrieve: pages: %w", err)
	}
	a := p.memory.Get().(*asked)
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
		found.Ranked = append(found.Ranked, graphrag.Hit{Chunk: p.passages[a.best[x.ID]], Score: x.Score, Source: pagesSource})
	}
	budget, most := q.Tokens, len(order)
	if budget <= 0 {
		budget, most = q.K*p.o.Longest, min(most, max(q.K, 0))
	}
	spread := p.o.Spread
	if read.Overview {
		spread = p.o.OverviewSpread
	}
	p.candidates(a, order[:min(most, budget/minOpening+1)], spread)
	a.spend(budget, most)
	found.Evidence = p.evidence(a, budget)
	if len(found.Evidence) == 0 && q.Tokens > 0 { // no passage fits: cut the best one
		first := graphrag.Hit{Chunk: p.passages[a.best[order[0].ID]], Score: order[0].Score, Source: pagesSource}
		if part, _ := Fit([]graphrag.Hit{first}, nil, q.Tokens, p.o.Count); part[0].Chunk.Text != "" {
			found.Evidence = part
		}
	}
	return found, nil
}

const (
	pagesSource = "pages"
	minOpening  = 100 // least tokens of a page, except for very short ones
)

// candidates prepares the pages that can be read, best first.
func (p *Pages) candidates(a *asked, order []rank.Scored[int32], spread float64) {
	if more := len(order) - cap(a.list); more > 0 {
		a.list = append(a.list[:cap(a.list)], make([]candidate, more)...)
	}
	a.list = a.list[:len(order)]
	for i, x := range order {
		c := &a.list[i]
		c.page, c.title, c.longest = x.ID, p.titles[x.ID], p.o.Longest
		c.right = math.Exp((x.Score - order[0].Score) / spread)
		c.first = int(a.best[x.ID] - p.first[x.ID])
		c.end = p.pages[x.ID].Ends[c.first]
		c.prepare(p.units, &a.ask)
	}
}

// evidence returns the selected units as chunks, best page first, in page order. The tokens of
// whole chunks are counted again, and the last steps are reverted until they fit.
func (p *Pages) evidence(a *asked, budget int) []graphrag.Hit {
	cost := make([]int, len(a.list))
	chunks := make([]graphrag.Chunk, len(a.list))
	all := 0
	measure := func(i int) {
		all -= cost[i]
		cost[i] = 0
		if c := &a.list[i]; c.open {
			chunks[i] = p.chunk(c)
			cost[i] = p.o.Count(Titled(chunks[i]))
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
			hits = append(hits, graphrag.Hit{Chunk: chunks[i], Score: a.score[c.page], Source: pagesSource})
		}
	}
	return hits
}

// chunk returns the units that are read of a page, with gaps where units are left out.
func (p *Pages) chunk(c *candidate) graphrag.Chunk {
	page := &p.pages[c.page]
	out := page.Chunk(c.first, c.end)
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
		run := page.Chunk(from, u+1)
		if b.Len() > 0 {
			b.WriteString(gap)
		} else {
			out.Start = run.Start
		}
		b.WriteString(run.Text)
		out.End = run.End
	}
	out.Text, out.Tokens = b.String(), c.used
	return out
}

// asked is the reused memory of one question.
type asked struct {
	ask
	spender
	query   []bm25.Term
	passage []float64 // scores of passages
	fields  []float64 // scores of pages beside their passages
	more    []float64
	score   []float64 // of pages
	best    []int32   // passage of each page
	order   []rank.Scored[int32]
	aspects
}

// rank scores the pages that match a question, and orders them, best first.
func (p *Pages) rank(ctx context.Context, a *asked, q graphrag.Question, read text.Wording) ([]rank.Scored[int32], error) {
	a.ask.clear()
	a.named = nil
	a.ask.add(p.units, p.words, read.Words, 1)
	a.ask.add(p.units, p.words, read.Names, p.o.Names)
	a.query = a.ask.query(p.units, a.query)
	a.passage = p.body.ScoresOf(a.query, a.passage)
	if p.o.Like != nil && p.o.Likeness > 0 {
		var err error
		if a.more, err = p.o.Like.Scores(ctx, read.Words, a.more); err != nil {
			return nil, err
		}
		weight := p.o.Likeness / deviation(a.more)
		for i := range a.passage {
			a.passage[i] += weight * slices.Max(a.more[p.tiles[2*i]:p.tiles[2*i+1]])
		}
	}
	a.fields = p.title.Scores(read.Words, a.fields)
	for i := range a.fields {
		a.fields[i] *= p.o.Title
	}
	a.more = p.page.Scores(read.Names, a.more)
	add(a.fields, a.more, p.o.Page)
	p.order(a)
	if p.o.Some != nil && p.o.Among > 0 && len(a.order) > 0 {
		if err := p.among(ctx, a, read.Words); err != nil {
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

// among adds the similarities of the best passages of the pages that are best by words, above the
// least of them.
func (p *Pages) among(ctx context.Context, a *asked, words string) error {
	var tiles []int32
	best := a.order[:min(p.o.Among, len(a.order))]
	for _, x := range best {
		i := a.best[x.ID]
		for t := p.tiles[2*i]; t < p.tiles[2*i+1]; t++ {
			tiles = append(tiles, t)
		}
	}
	scores, err := p.o.Some(ctx, words, tiles)
	if err != nil {
		return err
	}
	weight, least := p.o.Likeness/deviation(scores), slices.Min(scores)
	for _, x := range best {
		i := a.best[x.ID]
		n := p.tiles[2*i+1] - p.tiles[2*i]
		a.passage[i] += weight * (slices.Max(scores[:n]) - least)
		scores = scores[n:]
	}
	return nil
}

// The standard deviation of similarities of MiniLM, which counts as much as that of so many
// tiles: a few tell little.
const (
	usualDeviation = 0.1
	usualTiles     = 100
)

// deviation is the standard deviation of similarities, of a mean with what is usual.
func deviation(x []float64) float64 {
	mean := 0.0
	for _, s := range x {
		mean += s / float64(len(x))
	}
	sum := usualTiles * usualDeviation * usualDeviation
	for _, s := range x {
		sum += (s - mean) * (s - mean)
	}
	return math.Sqrt(sum / float64(usualTiles+len(x)))
}

// follow orders pages by their probability after propagation.
func (p *Pages) follow(ctx context.Context, a *asked, question string) error {
	a.more = zeros(a.more, len(p.pages))
	sum := 0.0
	for _, x := range a.order {
		right := math.Exp((x.Score - a.order[0].Score) / p.o.Spread)
		a.more[x.ID] = right
		sum += right
	}
	for i := range a.more {
		a.more[i] /= sum
	}
	right, err := p.o.Follow(ctx, question, a.more)
	if err != nil {
		return err
	}
	if len(right) != len(p.pages) {
		return fmt.Errorf("retrieve: pages: Follow gave %d chances for %d pages", len(right), len(p.pages))
	}
	a.order = a.order[:0]
	for i, x := range right {
		if x > 0 && p.first[i] < p.first[i+1] {
			a.score[i] = p.o.Spread * math.Log(x)
			a.order = append(a.order, rank.Scored[int32]{ID: int32(i), Score: a.score[i]})
		}
	}
	slices.SortFunc(a.order, rank.Compare)
	return nil
}

// add adds weighted scores to others.
func add(to, scores []float64, weight float64) {
	for i, s := range scores {
		to[i] += weight * s
	}
}

// order adds up the scores of pages, and orders those above 0.
func (p *Pages) order(a *asked) {
	n := len(p.pages)
	a.best, a.score, a.order = zeros(a.best, n), zeros(a.score, n), a.order[:0]
	for i := range p.pages {
		from, to := p.first[i], p.first[i+1]
		if from == to {
			continue
		}
		best := from
		for c := from + 1; c < to; c++ {
			if a.passage[c] > a.passage[best] {
				best = c
			}
		}
		a.best[i] = best
		if found := a.passage[best] + a.fields[i]; found != 0 {
			a.score[i] = found - p.o.Length*p.length[i]
			a.order = append(a.order, rank.Scored[int32]{ID: int32(i), Score: a.score[i]})
		}
	}
	slices.SortFunc(a.order, rank.Compare)
}
