// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/segments"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// pageIndex is the index of one segment of pages.
type pageIndex struct {
	pages []Page
	// passages are the passages of all pages, page by page. first has the index of the first passage of each
	// page, and at its end the number of passages.
	passages []graphrag.Chunk
	first    []int32
	tile     []int32   // index of the first tile of each page, then the number of tiles
	tiles    []int32   // for each passage the first tile that it overlaps, and the tile after the last one
	length   []float64 // natural logarithm of the tokens of each page
	titles   []int     // number of tokens of each title

	body, title, page *bm25.Index
	units             *unitIndex
	like              retrieve.Texts // nil if texts are compared by words only
}

// New indexes pages. The pages must not change afterwards.
func New(ctx context.Context, pages []Page, o Options) (*Retriever, error) {
	c := opt.Checks{Of: "pages"}
	opt.Min(&c, "Longest", o.Longest, 0)
	if err := c.Err(); err != nil {
		return nil, err
	}
	p := &Retriever{o: o.Defaults(), languages: make(map[text.Language]int)}
	for i := range pages {
		p.languages[text.LanguageOf(pages[i].Text)]++
	}
	var err error
	if p.words, err = wordsOf(text.MainOf(p.languages)); err != nil {
		return nil, err
	}
	ix, err := p.index(ctx, pages)
	if err == nil && o.Like != nil {
		ix.like, err = ix.likeness(ctx, o.Like)
	}
	if err != nil {
		return nil, err
	}
	chunks := make([]graphrag.Chunk, len(pages))
	for i := range pages {
		chunks[i].ID = pages[i].ID()
	}
	p.mixed = !slices.IsSortedFunc(chunks, segments.ByID)
	return p.over([]segments.Segment[*pageIndex]{{Index: ix, Chunks: chunks, N: len(pages)}})
}

// wordsOf returns the analyzer of texts: of English if most texts are English, otherwise of the language of
// each text. Titles and questions whose language cannot be recognized are read in the language of most texts.
func wordsOf(main text.Language) (*text.Standard, error) {
	if main == text.English {
		return text.Default(), nil
	}
	return text.New(text.Options{Language: text.Each, Otherwise: main})
}

// index makes the index of pages by words.
func (p *Retriever) index(ctx context.Context, pages []Page) (*pageIndex, error) {
	ix := &pageIndex{pages: pages, first: make([]int32, 1, len(pages)+1), tile: make([]int32, 1, len(pages)+1)}
	titles, bodies := make([]string, len(pages)), make([]string, len(pages))
	for i := range pages {
		page := &pages[i]
		ix.cover(page)
		ix.passages = append(ix.passages, page.Passages()...)
		ix.first = append(ix.first, int32(len(ix.passages)))
		ix.length = append(ix.length, math.Log(float64(1+page.Tokens(0, len(page.Units)))))
		titles[i], bodies[i] = page.Title, page.Text
		ix.titles = append(ix.titles, p.o.Count(graphrag.Chunk{Title: page.Title}.Titled()))
	}
	var errs [4]error
	ix.body, errs[0] = bm25.Build(ctx, ix.passages, bm25.Options{Analyzer: p.words})
	ix.title, errs[1] = bm25.BuildTexts(ctx, titles, bm25.Options{B: titleB, Analyzer: p.words})
	ix.page, errs[2] = bm25.BuildTexts(ctx, bodies, bm25.Options{Analyzer: p.words})
	ix.units, errs[3] = newUnits(ctx, pages, p.words)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("pages: index pages: %w", err)
	}
	return ix, nil
}

// cover records which tiles the passages of the next page overlap.
func (ix *pageIndex) cover(page *Page) {
	tiles, before := page.Tiles(), ix.tile[len(ix.tile)-1]
	from := 0
	for first, end := range page.Ends {
		for page.Ends[tiles[from]] <= first {
			from++
		}
		to := from + 1
		for to < len(tiles) && tiles[to] < end {
			to++
		}
		ix.tiles = append(ix.tiles, before+int32(from), before+int32(to))
	}
	ix.tile = append(ix.tile, before+int32(len(tiles)))
}

// likeness makes the index by which questions are compared with tiles.
func (ix *pageIndex) likeness(ctx context.Context, like func(context.Context, text.List) (retrieve.Texts, error)) (retrieve.Texts, error) {
	var tiles []graphrag.Chunk
	for i := range ix.pages {
		page := &ix.pages[i]
		for _, first := range page.Tiles() {
			tiles = append(tiles, page.Chunk(first, page.Ends[first]))
		}
	}
	t, err := like(ctx, retrieve.TitledTexts(tiles))
	if err == nil && t.Len() != len(tiles) {
		err = fmt.Errorf("pages: the index that Like returned has %d texts, want %d, one for each tile", t.Len(), len(tiles))
	}
	return t, err
}

// Encode computes the vectors of tiles that Lazily would compute on demand, until ctx ends.
func (p *Retriever) Encode(ctx context.Context) error {
	if p.o.Lazily == nil {
		return nil
	}
	return p.o.Lazily.Rest(ctx, func(yield func(string) bool) {
		for _, s := range p.segments {
			for n := range s.Set().All() {
				page := &s.Index.pages[n]
				for _, first := range page.Tiles() {
					if !yield(page.Chunk(first, page.Ends[first]).Titled()) {
						return
					}
				}
			}
		}
	})
}

// over completes p as the retriever over segments.
func (p *Retriever) over(list []segments.Segment[*pageIndex]) (*Retriever, error) {
	p.segments, p.first, p.passages = list, []int32{0}, []int32{0}
	var parts [3][]*bm25.Index
	var sets [3][]bm25.Docs
	for i := range list {
		s := &list[i]
		p.n += s.N
		p.first = append(p.first, p.first[i]+int32(len(s.Index.pages)))
		p.passages = append(p.passages, p.passages[i]+int32(len(s.Index.passages)))
		for n, ix := range []*bm25.Index{s.Index.body, s.Index.title, s.Index.page} {
			parts[n], sets[n] = append(parts[n], ix), append(sets[n], s.Live)
		}
		if s.Live != nil {
			sets[0][i] = make(bm25.Docs, (len(s.Index.passages)+63)/64)
			for n := range s.Live.All() {
				for c := s.Index.first[n]; c < s.Index.first[n+1]; c++ {
					sets[0][i].Add(c)
				}
			}
		}
	}
	for n, to := range []**bm25.Collection{&p.body, &p.title, &p.page} {
		all, err := bm25.NewCollection(parts[n]...)
		if err != nil {
			return nil, fmt.Errorf("pages: join indexes: %w", err)
		}
		*to = all.Limit(sets[n])
	}
	p.sorted = sync.OnceValue(p.inOrder)
	p.memory.New = func() any {
		a := &queryMemory{spender: spender{detail: p.o.Detail}}
		most := 0
		for i := range list {
			n := list[i].Index.units.terms.Len()
			a.number, most = append(a.number, make([]uint8, n)), max(most, n)
		}
		a.count = make([]int32, most)
		return a
	}
	return p, nil
}

// compare orders pages by score, equal scores by ID.
func (p *Retriever) compare(a, b rank.Scored[int32]) int {
	if len(p.segments) == 1 || a.Score != b.Score {
		return rank.Compare(a, b)
	}
	return cmp.Compare(p.id(a.ID), p.id(b.ID))
}

func (p *Retriever) id(page int32) string {
	at, n := p.at(page)
	return p.segments[at].Chunks[n].ID
}

// inOrder returns the numbers of the pages that were not deleted, in the order of their IDs.
func (p *Retriever) inOrder() (pages []int32) {
	for i := range p.segments {
		for n := range p.segments[i].Set().All() {
			pages = append(pages, p.first[i]+n)
		}
	}
	if len(p.segments) > 1 {
		slices.SortFunc(pages, func(a, b int32) int { return cmp.Compare(p.id(a), p.id(b)) })
	}
	return pages
}

// Change returns a retriever after a change of documents: each of the pages replaces the page of its document,
// and the pages of the documents in gone are deleted; pages have to be in the order of their IDs. The results
// are the same, to the bit, as with a retriever that is built from scratch. It returns nil if one has to be
// built from scratch: most pages are of another language now, Like is not an index of vectors, or the first
// pages were not in the order of their IDs. follow replaces the option Follow.
func (p *Retriever) Change(ctx context.Context, pages []Page, gone []string, follow Follow) (*Retriever, error) {
	next := &Retriever{o: p.o, words: p.words, languages: maps.Clone(p.languages)}
	next.o.Follow = follow
	var come, away []graphrag.Chunk
	for i := range pages {
		come = append(come, graphrag.Chunk{ID: pages[i].ID(), Index: i})
		next.languages[text.LanguageOf(pages[i].Text)]++
	}
	away = append(away, come...)
	for _, doc := range gone {
		away = append(away, graphrag.Chunk{ID: (&Page{Doc: doc}).ID()})
	}
	slices.SortFunc(away, segments.ByID)
	away = slices.CompactFunc(away, func(a, b graphrag.Chunk) bool { return a.ID == b.ID })
	parts := slices.Clone(p.segments)
	for i := range parts {
		s := &parts[i]
		if _, ok := s.Index.like.(*retrieve.Vectors); p.o.Like != nil && !ok || p.mixed {
			return nil, nil
		}
		s.Index = next.forget(s, away)
	}
	if text.MainOf(next.languages) != text.MainOf(p.languages) {
		return nil, nil
	}
	parts, err := segments.Revise(parts, come, away, func(chunks []graphrag.Chunk) (*pageIndex, error) {
		list := make([]Page, len(chunks))
		for i, c := range chunks {
			list[i] = pages[c.Index]
		}
		ix, err := next.index(ctx, list)
		if err == nil && p.o.Like != nil {
			ix.like, err = ix.likeness(ctx, p.o.Like)
		}
		return ix, err
	}, func(from []segments.Segment[*pageIndex], places []segments.Origin, _ []graphrag.Chunk) (*pageIndex, error) {
		return next.join(ctx, from, places)
	})
	if err != nil {
		return nil, err
	}
	return next.over(parts)
}

// join makes one index of some pages of several segments. Their vectors are copied, not computed again.
func (p *Retriever) join(ctx context.Context, from []segments.Segment[*pageIndex], places []segments.Origin) (*pageIndex, error) {
	list := make([]Page, len(places))
	for i, x := range places {
		list[i] = from[x.Segment].Index.pages[x.Doc]
	}
	ix, err := p.index(ctx, list)
	if err != nil || p.o.Like == nil {
		return ix, err
	}
	all := new(retrieve.Vectors)
	err = all.Join(func(yield func(*retrieve.Vectors, int32) bool) {
		for _, x := range places {
			of := from[x.Segment].Index
			for t := of.tile[x.Doc]; t < of.tile[x.Doc+1]; t++ {
				if !yield(of.like.(*retrieve.Vectors), t) {
					return
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	ix.like = all
	return ix, ctx.Err()
}

// forget returns the index of a segment that no longer counts the deleted pages, and removes their languages
// from the counts.
func (p *Retriever) forget(s *segments.Segment[*pageIndex], gone []graphrag.Chunk) *pageIndex {
	ix := s.Index
	for _, c := range gone {
		n, ok := slices.BinarySearchFunc(s.Chunks, c, segments.ByID)
		if !ok || s.Live != nil && !s.Live.Has(int32(n)) {
			continue
		}
		p.languages[text.LanguageOf(ix.pages[n].Text)]--
		if ix == s.Index {
			index, counts := *ix, *ix.units
			ix, index.units = &index, &counts
			counts.df = slices.Clone(counts.df)
		}
		terms := slices.Clone(ix.units.across(ix.units.first[n], ix.units.first[n+1]))
		slices.Sort(terms)
		for _, t := range slices.Compact(terms) {
			ix.units.df[t]--
		}
	}
	return ix
}

// Lazy compares queries with texts by their vectors. It computes a vector when its text is first compared, and
// caches it. It is safe for concurrent use.
type Lazy struct {
	embedder embed.Embedder
	mu       sync.Mutex
	rows     map[string][]float32
}

// maxLazy is the largest number of cached vectors.
const maxLazy = 1 << 18

// NewLazy returns an empty Lazy; it embeds nothing yet.
func NewLazy(e embed.Embedder) *Lazy {
	return &Lazy{embedder: e, rows: make(map[string][]float32)}
}

// Scores returns the cosine of a query with each of some texts.
func (l *Lazy) Scores(ctx context.Context, query string, texts []string) ([]float64, error) {
	row, err := embed.Query(ctx, l.embedder, query)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.make(ctx, texts); err != nil {
		return nil, err
	}
	out := make([]float64, len(texts))
	for i, s := range texts {
		out[i] = vector.Cosine(row, l.rows[s])
	}
	return out, nil
}

// make computes the vectors that are not cached. The caller holds mu.
func (l *Lazy) make(ctx context.Context, texts []string) error {
	if len(l.rows) > maxLazy {
		clear(l.rows)
	}
	var lacking []string
	for _, s := range texts {
		if l.rows[s] == nil && !slices.Contains(lacking, s) {
			lacking = append(lacking, s)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	rows, err := l.embedder.EmbedDocuments(ctx, lacking)
	if err == nil && len(rows) != len(lacking) {
		err = fmt.Errorf("the embedder returned %d vectors for %d texts", len(rows), len(lacking))
	}
	if err != nil {
		return fmt.Errorf("pages: compute vectors: %w", err)
	}
	for i, s := range lacking {
		l.rows[s] = rows[i]
	}
	return nil
}

// textsAtOnce is the number of texts that Rest embeds in one call, some tenths of a second of work: a question
// waits for one such call at most, and cancelling Rest loses one at most.
const textsAtOnce = 16

// Rest computes the vectors of texts that are not cached, until ctx ends or the cache is full.
func (l *Lazy) Rest(ctx context.Context, texts iter.Seq[string]) error {
	var some []string
	encode := func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := ctx.Err(); err != nil || len(l.rows)+len(some) > maxLazy {
			return err
		}
		err := l.make(ctx, some)
		some = some[:0]
		return err
	}
	for s := range texts {
		if some = append(some, s); len(some) == textsAtOnce {
			if err := encode(); err != nil || len(some) > 0 {
				return err
			}
		}
	}
	return encode()
}
