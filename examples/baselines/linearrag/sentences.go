// SPDX-License-Identifier: Apache-2.0

package linearrag

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// sentences compares a question with single sentences, on demand.
type sentences interface {
	to(ctx context.Context, question string) (func(sentence int32) float64, error)
}

func newSentences(ctx context.Context, kit baselines.Kit, texts []string) (sentences, error) {
	if !kit.Pretrained {
		return newTFIDF(texts), ctx.Err()
	}
	e, err := kit.Embedder(ctx, nil)
	if err != nil || len(texts) == 0 {
		return newTFIDF(nil), err
	}
	v, err := baselines.NewVectors(ctx, e, texts)
	return &embedded{e, v}, err
}

// embedded holds the vectors of the sentences.
type embedded struct {
	embedder embed.Embedder
	vectors  *baselines.Vectors
}

func (s *embedded) to(ctx context.Context, question string) (func(int32) float64, error) {
	q, err := s.embedder.EmbedQuery(ctx, question)
	if err != nil {
		return nil, err
	}
	return func(i int32) float64 { return max(0, s.vectors.Cosines(q, []int32{i})[0]) }, nil
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

func (s *tfidf) to(ctx context.Context, question string) (func(int32) float64, error) {
	type weight struct {
		term int32
		w    float64
	}
	var q []weight
	sum := 0.0
	counts := make(map[string]int)
	for _, term := range text.Default().Terms(question) {
		counts[term]++
	}
	for _, term := range slices.Sorted(maps.Keys(counts)) { // sums depend on the order
		n := counts[term]
		idf := 1 + math.Log(float64(len(s.offsets)))
		id, ok := s.ids[term]
		if ok {
			idf = s.idf[id]
			q = append(q, weight{id, float64(n) * idf})
		}
		sum += float64(n) * idf * float64(n) * idf
	}
	slices.SortFunc(q, func(a, b weight) int { return cmp.Compare(a.term, b.term) })
	norm := math.Sqrt(sum)
	return func(i int32) float64 {
		dot := 0.0
		for at := s.offsets[i]; at < s.offsets[i+1]; at++ {
			for _, x := range q {
				if x.term == s.terms[at] {
					dot += float64(s.weights[at]) * x.w
				}
			}
		}
		if norm == 0 {
			return 0
		}
		return dot / norm
	}, ctx.Err()
}
