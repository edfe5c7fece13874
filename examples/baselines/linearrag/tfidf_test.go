// SPDX-License-Identifier: Apache-2.0

package linearrag_test

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// byTFIDF compares sentences by the cosine of tf-idf vectors and passages, which are
// known by their number, by BM25: as the figures of the specification were measured
// (section 11).
func byTFIDF(passages int) func(context.Context, func(context.Context) (embed.Embedder, error), text.List) (retrieve.Texts, error) {
	return func(ctx context.Context, fitted func(context.Context) (embed.Embedder, error), texts text.List) (retrieve.Texts, error) {
		if texts.Len() == passages {
			return retrieve.NewWords(ctx, texts)
		}
		return newTFIDF(slices.Collect(texts.All())), nil
	}
}

// tfidf holds the sentences as unit vectors of weighted terms, one behind the
// other.
type tfidf struct {
	ids     map[string]int32
	idf     []float64
	offsets []int64
	terms   []int32
	weights []float32
}

func newTFIDF(texts []string) *tfidf {
	s := &tfidf{ids: make(map[string]int32), offsets: []int64{0}}
	analyzer := text.Default()
	var counts []int32 // of each entry of terms
	var df []int32
	for _, sentence := range texts {
		from := len(s.terms)
		for _, term := range analyzer.Terms(sentence) {
			id, ok := s.ids[term]
			if !ok {
				id = int32(len(df))
				s.ids[term] = id
				df = append(df, 0)
			}
			if i := slices.Index(s.terms[from:], id); i >= 0 {
				counts[from+i]++
				continue
			}
			df[id]++
			s.terms, counts = append(s.terms, id), append(counts, 1)
		}
		s.offsets = append(s.offsets, int64(len(s.terms)))
	}
	s.idf = make([]float64, len(df))
	for id, n := range df {
		s.idf[id] = 1 + math.Log(float64(1+len(texts))/float64(1+n))
	}
	s.weights = make([]float32, len(s.terms))
	for i := range texts {
		lo, hi := s.offsets[i], s.offsets[i+1]
		sum := 0.0
		for at := lo; at < hi; at++ {
			w := float64(counts[at]) * s.idf[s.terms[at]]
			s.weights[at] = float32(w)
			sum += w * w
		}
		for at := lo; at < hi; at++ {
			s.weights[at] /= float32(math.Sqrt(sum))
		}
	}
	return s
}

func (s *tfidf) Len() int { return len(s.offsets) - 1 }

func (s *tfidf) Best(context.Context, string, int) ([]rank.Scored[int32], error) {
	panic("not asked for by LinearRAG")
}

func (s *tfidf) Scores(ctx context.Context, question string, dst []float64) ([]float64, error) {
	counts := make(map[string]int)
	for _, term := range text.Default().Terms(question) {
		counts[term]++
	}
	query := make(map[int32]float64)
	sum := 0.0
	for _, term := range slices.Sorted(maps.Keys(counts)) { // sums depend on the order
		idf := 1 + math.Log(float64(len(s.offsets)))
		if id, ok := s.ids[term]; ok {
			idf = s.idf[id]
			query[id] = float64(counts[term]) * idf
		}
		sum += float64(counts[term]) * idf * float64(counts[term]) * idf
	}
	dst = append(dst[:0], make([]float64, s.Len())...)
	for i := range dst {
		for at := s.offsets[i]; sum > 0 && at < s.offsets[i+1]; at++ {
			dst[i] += float64(s.weights[at]) * query[s.terms[at]] / math.Sqrt(sum)
		}
	}
	return dst, ctx.Err()
}
