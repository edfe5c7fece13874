// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Search returns the k best documents for the terms of the query, best first, equal scores in the order of the
// documents. A repeated term counts as often as it occurs. Only documents with at least one of the terms are
// returned, so there may be fewer than k, or none. The results are written to dst from index 0, which is
// reallocated only if its capacity is too small. Nothing else is allocated for words of earlier queries, of
// which up to 65,536 are cached.
func (ix *Index) Search(query string, k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	s := ix.alone.ask(query)
	dst = s.search(k, dst[:0])
	s.done()
	return dst
}

// Whole returns the score of a text of average length that contains every indexed term of the query once, for
// comparison with other scores.
func (ix *Index) Whole(query string) float64 { return ix.alone.Whole(query) }

// Scores writes the scores of all documents to dst, in their order: 0 without a term of the query, else exactly
// the score that [Index.Search] returns.
func (ix *Index) Scores(query string, dst []float64) []float64 {
	return ix.alone.AllScores(query, dst)
}

// Term is a term of a query, in the form that the analyzer returns. It counts Weight times; Weight is above 0.
type Term struct {
	Text   string
	Weight float64
}

// searcher is the state of one search.
//
// Terms are scored one by one, in descending order of their largest possible contribution, over one window of
// documents at a time. The contribution of the remaining terms has an upper bound. Once it is below the
// threshold, the k-th best sum so far, no new document can reach the result: only documents that still can are
// candidates and looked up in the remaining lists (MaxScore: Turtle and Flood, "Query evaluation: strategies
// and optimizations", 1995). The bounds hold per window (block-max: Ding and Suel, "Faster top-k document
// retrieval using block-max indexes", SIGIR 2011); the windows with the largest bounds are searched first.
//
// A document's score is always the sum of its terms in the same order, so it does not depend on the documents
// that were skipped.
type searcher struct {
	c       *Collection
	numbers *text.Numbering
	ids     []int32  // by term number and part: number of the term in that part's index, or -1
	dfs     []uint32 // by term number: number of documents that contain the term
	query   []queryTerm
	add     func(numbers []int32) bool // the method addAll, stored once to avoid allocations
	at      *member                    // the member that contains the current window

	sums       [windowSize]float32
	impacts    [256]float32      // what postings of a list add to scores; a buffer
	column     [windowSize]uint8 // term frequencies of a list, by document; zero between two uses
	candidates candidates
	active     []activeTerm
	keep       func(part int, doc int32) bool // reports whether a document may be found; nil means all may
	blockOf    []uint32                       // by window and query term: 1 + the term's block, 0 for none
	upper      []float32                      // by window: upper bound of the scores
	order      []int32                        // windows to search, by descending upper bound

	best    rank.Top[int32] // best documents of the windows searched so far
	k       int
	tied    bool                 // return all documents that tie with the k-th
	also    []rank.Scored[int32] // documents that were once in best, if tied is set
	found   []rank.Scored[int32]
	few     []float32       // scores of the documents of sumUp or the groups of Joined
	counts  []uint32        // frequencies of one term in given documents
	tfs     []uint32        // by term and group: frequency of the term in the group
	members []uint64        // sorted pairs of a document and the group that contains it
	docs    []int32         // the documents of the pairs in members
	partial rank.Top[int32] // best and the sums of the current window

	threshold float32 // a sum that at least k documents reach
	cutoff    float32 // threshold less the rounding error: lower sums cannot reach the result
	slack     float32
}

// queryTerm is a distinct term of the query.
type queryTerm struct {
	number int32    // the term's number in the searcher's vocabulary
	ids    []int32  // the term's number in the index of each part, -1 if it has none
	df     uint32   // number of documents of all parts that contain it
	times  float64  // number of occurrences in the query, or the term's weight
	weight float32  // factor of the saturation in a score
	tfs    []uint32 // by group of [Index.Joined]: frequency in the group
}

// activeTerm is a term of the query in one window.
type activeTerm struct {
	id     int32
	weight float32
	upper  float32 // the most that this and all later active terms can add
	column []uint8 // frequencies of all documents of the window; if nil, docs and tfs list them
	docs   []uint16
	tfs    []uint8
}

// maxWords is the most words that a searcher caches between queries.
const maxWords = 1 << 16

func newSearcher(c *Collection) *searcher {
	windows := len(c.windows)
	s := &searcher{c: c, numbers: new(text.Vocabulary).Numbering(c.options.Analyzer), upper: make([]float32, windows), order: make([]int32, 0, windows)}
	s.candidates = newCandidates(min(windowSize, c.numbers))
	s.add = s.addAll
	return s
}

// analyze sets the query's terms.
func (s *searcher) analyze(query string) {
	s.begin()
	s.numbers.Text(query, s.add)
	s.prepare()
}

// begin clears the searcher for the next query.
func (s *searcher) begin() {
	s.query = s.query[:0]
	s.numbers.Trim(maxWords)
	if s.numbers.Terms().Len() == 0 {
		s.ids, s.dfs = s.ids[:0], s.dfs[:0]
	}
}

func (s *searcher) addAll(numbers []int32) bool {
	for _, t := range numbers {
		if t >= 0 {
			s.addTerm(t, 1)
		}
	}
	return true
}

// addTerm adds the term with a number to the query.
func (s *searcher) addTerm(t int32, times float64) {
	n := len(s.c.parts)
	at := int(t) * n
	if at == len(s.ids) {
		for i := range s.c.parts {
			s.ids = append(s.ids, s.c.parts[i].ix.find(s.numbers.Terms().At(int(t))))
		}
		s.dfs = append(s.dfs, s.df(s.ids[at:at+n]))
	}
	s.query = append(s.query, queryTerm{number: t, ids: s.ids[at : at+n], df: s.dfs[t], times: times})
}

// prepare merges repeated terms, and sorts terms by descending weight.
func (s *searcher) prepare() {
	s.merge()
	s.weigh(s.c.documents)
}

// merge replaces repeated terms by one with the sum of their times.
func (s *searcher) merge() {
	slices.SortFunc(s.query, func(a, b queryTerm) int { return cmp.Compare(a.number, b.number) })
	kept := s.query[:0]
	for _, q := range s.query {
		if last := len(kept) - 1; last >= 0 && kept[last].number == q.number {
			kept[last].times += q.times
		} else {
			kept = append(kept, q)
		}
	}
	s.query = kept
}

// weigh drops the terms that no document contains, and sorts the others by descending weight, then as texts. So
// the sums are the same however documents are distributed over parts.
func (s *searcher) weigh(documents int) {
	s.query = slices.DeleteFunc(s.query, func(q queryTerm) bool { return q.df == 0 })
	for i := range s.query {
		q := &s.query[i]
		q.weight = float32(q.times * s.c.options.weight(documents, q.df))
	}
	terms := s.numbers.Terms()
	slices.SortFunc(s.query, func(a, b queryTerm) int {
		if c := cmp.Compare(b.weight, a.weight); c != 0 {
			return c
		}
		return bytes.Compare(terms.At(int(a.number)), terms.At(int(b.number)))
	})
}

func (s *searcher) search(k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	if k = min(k, s.c.documents); k <= 0 || len(s.query) == 0 {
		return dst
	}
	s.k = k
	s.best.Reset(k)
	s.also = s.also[:0]
	// The rounding error of a sum of n floats is below n half units in the last place, and so is the error of
	// each bound that the sum is compared with.
	s.slack = min(float32(len(s.query)+8)*0x1p-22, 1)
	s.threshold, s.cutoff = 0, 0
	if s.c.few {
		s.lookUp()
	} else {
		s.scan()
	}
	if !s.tied {
		return s.best.Append(dst)
	}
	for _, f := range s.also {
		if f.Score >= s.best.Threshold() {
			dst = append(dst, f)
		}
	}
	slices.SortFunc(dst, rank.Compare)
	return dst
}

// scan searches the windows in descending order of their bounds.
func (s *searcher) scan() {
	s.bound()
	slices.SortFunc(s.order, func(a, b int32) int { return cmp.Compare(s.upper[b], s.upper[a]) })
	for _, w := range s.order {
		if s.upper[w] < s.cutoff {
			break
		}
		s.window(int(w))
	}
}

// push adds a document to the best if keep allows it.
func (s *searcher) push(p *member, doc int32, sum float64) {
	if sum >= s.best.Threshold() && (s.keep == nil || s.keep(p.number, doc)) {
		s.best.Push(p.first+doc, sum)
		if s.tied {
			s.also = append(s.also, rank.Scored[int32]{ID: p.first + doc, Score: sum})
		}
	}
}

// Joined writes the scores of groups of documents to dst. It scores a group as if its documents were
// concatenated, with blanks between them, and the index contained these concatenations alone. scores equal, to
// the bit, the [Index.Scores] of such an index, and whole its [Index.Whole], but no text is analyzed.
func (ix *Index) Joined(query string, groups [][]int32, dst []float64) (scores []float64, whole float64) {
	s := ix.alone.searchers.Get().(*searcher)
	defer s.done()
	s.begin()
	s.numbers.Text(query, s.add)
	s.merge()
	s.countIn(groups)
	s.weigh(len(groups))
	norms := ix.joinedNorms(groups)
	s.few = append(s.few[:0], make([]float32, len(groups))...)
	for _, q := range s.query {
		for g, tf := range q.tfs {
			s.few[g] += q.weight * saturation(float32(tf), norms[g])
		}
		whole += q.times * idf(len(groups), q.df)
	}
	scores = dst[:0]
	for _, sum := range s.few {
		scores = append(scores, float64(sum))
	}
	return scores, whole
}

// countIn counts each term of the query in each group of documents, in the order of the documents.
func (s *searcher) countIn(groups [][]int32) {
	s.members, s.docs = s.members[:0], s.docs[:0]
	for g, docs := range groups {
		for _, doc := range docs {
			s.members = append(s.members, uint64(doc)<<32|uint64(g))
		}
	}
	slices.Sort(s.members)
	for _, m := range s.members {
		s.docs = append(s.docs, int32(m>>32))
	}
	n := len(groups)
	s.tfs = append(s.tfs[:0], make([]uint32, n*len(s.query))...)
	for i := range s.query {
		q := &s.query[i]
		q.tfs, q.df = s.tfs[i*n:(i+1)*n], 0
		if q.ids[0] < 0 {
			continue
		}
		s.counts = s.c.parts[0].ix.frequencies(int(q.ids[0]), s.docs, s.counts)
		for at, tf := range s.counts {
			q.tfs[uint32(s.members[at])] += tf
		}
		for _, tf := range q.tfs {
			if tf > 0 {
				q.df++
			}
		}
	}
}

// joinedNorms returns the norm of each group of documents.
func (ix *Index) joinedNorms(groups [][]int32) []float32 {
	lengths, total := make([]uint32, len(groups)), 0.0
	for g, docs := range groups {
		for _, doc := range docs {
			lengths[g] += ix.lengths[doc]
		}
		total += float64(lengths[g])
	}
	norms := make([]float32, len(groups))
	for g, length := range lengths {
		norms[g] = ix.options.norm(length, total/float64(len(groups)))
	}
	return norms
}

// Like reports whether two indexes have the same options, so that they can be merged.
func (ix *Index) Like(other *Index) bool { return alike([]*Index{ix, other}) == nil }

// kernels are the inner loops of a search, for one kind of processor. All return the same bits.
type kernels struct {
	// impacts writes what each posting of a list adds to a score. It returns false if a posting's frequency is
	// largeTF: then the impact of that posting is wrong.
	impacts func(out []float32, docs []uint16, tfs []uint8, norms *[windowSize]float32, weight float32) bool
	// collect makes candidates of the documents whose sum is at least minimum, which is above 0, and sets all
	// sums to 0.
	collect func(c *candidates, sums, norms *[windowSize]float32, minimum float32)
	// refine adds a term to the sums of the candidates from the index read on, and keeps a candidate whose sum
	// and the rest of the bound reach the cutoff. It stops before a group with the frequency largeTF, and
	// returns the numbers of candidates read and kept.
	refine func(c *candidates, read, kept int, column []uint8, r refinement) (int, int)
	// everywhere says that collecting a whole window costs less than reading a few hundred scattered sums.
	everywhere bool
}

// refinement holds the arguments of refine that all candidates share.
type refinement struct{ weight, rest, cutoff float32 }

var fast = available()[0]

func portable() kernels {
	return kernels{impacts: impactsOf, collect: collectSums, refine: refineCandidates}
}

// lanes is the number of candidates that are refined at the same time.
const lanes = 16

// candidates are the documents of a window that may be among the best, with their sums and norms. The capacity
// of the slices is lanes larger than needed.
type candidates struct {
	n     int
	docs  []uint16
	sums  []float32
	norms []float32
}

func newCandidates(most int) candidates {
	most += lanes
	return candidates{docs: make([]uint16, most), sums: make([]float32, most), norms: make([]float32, most)}
}

func (c *candidates) add(doc uint16, sum, norm float32) {
	c.docs[c.n], c.sums[c.n], c.norms[c.n] = doc, sum, norm
	c.n++
}

func impactsOf(out []float32, docs []uint16, tfs []uint8, norms *[windowSize]float32, weight float32) bool {
	tfs, out = tfs[:len(docs)], out[:len(docs)]
	for i, d := range docs {
		out[i] = weight * saturation(float32(tfs[i]), norms[d&(windowSize-1)])
	}
	return !slices.Contains(tfs, largeTF)
}

func collectSums(c *candidates, sums, norms *[windowSize]float32, minimum float32) {
	c.n = 0
	for d, sum := range sums {
		if sum >= minimum {
			c.add(uint16(d), sum, norms[d])
		}
	}
	clear(sums[:])
}

func refineCandidates(c *candidates, read, kept int, column []uint8, r refinement) (int, int) {
	var tfs [lanes]uint8
	for read < c.n {
		group := c.docs[read:min(read+lanes, c.n)]
		for i, d := range group {
			if tfs[i] = 0; int(d) < len(column) {
				tfs[i] = column[d]
			}
			if tfs[i] == largeTF {
				return read, kept
			}
		}
		for _, tf := range tfs[:len(group)] {
			kept = c.refine(read, kept, float32(tf), r)
			read++
		}
	}
	return read, kept
}

// refine adds a term to the sum of one candidate and keeps the candidate if it can still be among the best.
func (c *candidates) refine(read, kept int, tf float32, r refinement) int {
	sum := c.sums[read] + r.weight*saturation(tf, c.norms[read])
	if sum+r.rest >= r.cutoff {
		c.docs[kept], c.sums[kept], c.norms[kept] = c.docs[read], sum, c.norms[read]
		kept++
	}
	return kept
}
