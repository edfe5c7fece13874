// SPDX-License-Identifier: Apache-2.0

package bm25

import "slices"

// Joined writes over dst how groups of documents score, each group as the one text that
// its documents make put together with blanks between them, in an index of these texts
// alone: to the bit what [Index.Scores] of that has. Whole is its [Index.Whole]. Texts
// that are put together anew for each query need not be analyzed for it.
func (ix *Index) Joined(query string, groups [][]int32, dst []float64) (scores []float64, whole float64) {
	s := ix.alone.searchers.Get().(*searcher)
	defer s.done()
	s.begin()
	ix.options.Analyzer.Words(query, s.add)
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

// countIn counts the terms of the query in each group of documents. The documents are
// looked up in their order.
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

// joinedNorms are the norms of groups of documents.
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

// Like tells whether two indexes differ in their documents alone.
func (ix *Index) Like(other *Index) bool { return alike([]*Index{ix, other}) == nil }
