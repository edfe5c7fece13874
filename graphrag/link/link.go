// SPDX-License-Identifier: Apache-2.0

package link

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// scored is a name, by its index, with its similarity to another one.
type scored = rank.Scored[int32]

// Similarity finds similar names.
type Similarity interface {
	// Neighbors returns for each name the other names with a similarity of at least threshold, at most limit of
	// them, best first, equal similarities by index. Similarities are in -1..1; 1 means equal. The result
	// depends only on the names and their order.
	Neighbors(ctx context.Context, names []string, threshold float64, limit int) ([][]scored, error)
}

// NameIndex finds the names that are nearest to a given one. It is safe for concurrent use.
type NameIndex interface {
	// Nearest returns the k most similar names, best first, equal similarities by index; fewer if no other name
	// is similar at all.
	Nearest(ctx context.Context, name string, k int) ([]scored, error)
}

// Linker is a [Similarity] that can also index names, to link others to them, as [Trigrams] and [Embeddings]
// can.
type Linker interface {
	Similarity
	Index(ctx context.Context, names []string) (NameIndex, error)
}

// SynonymOptions are the options of [Synonyms]. The zero value is HippoRAG's (arXiv 2405.14831, section 2.3,
// and the code of both versions).
type SynonymOptions struct {
	// Threshold is the least similarity, Limit the largest number of synonyms of a name, MinSize the least
	// number of letters and digits of a name that looks for synonyms; 0 means the default of each.
	Threshold float64 `default:"0.8" source:"HippoRAG, section 2.3"`
	Limit     int     `default:"101" min:"0" source:"its program"` // the program stops when it has more than 100
	MinSize   int     `default:"3" min:"0" source:"its program"`   // "more than 2"
	// Among, if set, are the entities that are compared.
	Among []int32
}

// Check reports all errors in the options.
func (o SynonymOptions) Check() error { return o.fill() }

// fill replaces zero values by their defaults and checks the options.
func (o *SynonymOptions) fill() error {
	c := opt.Checks{Of: "link: synonyms"}
	c.Fill(o)
	c.Want(o.Threshold > 0 && o.Threshold <= 1, "Threshold", o.Threshold, "more than 0, at most 1")
	return c.Err()
}

// Synonyms compares the keys of the entities and returns the synonyms, sorted by From, then by score, best
// first.
func Synonyms(ctx context.Context, g *kg.Graph, s Similarity, o SynonymOptions) ([]kg.Synonym, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	among := o.Among
	if among == nil {
		among = make([]int32, len(g.Entities))
		for i := range among {
			among[i] = int32(i)
		}
	}
	names := make([]string, len(among))
	for i, e := range among {
		names[i] = g.Entities[e].Key
	}
	near, err := s.Neighbors(ctx, names, o.Threshold, o.Limit)
	if err != nil {
		return nil, fmt.Errorf("link: synonyms of %d entities: %w", len(names), err)
	}
	var out []kg.Synonym
	for i, of := range near {
		if size(names[i]) < o.MinSize {
			continue
		}
		for _, n := range of {
			out = append(out, kg.Synonym{From: among[i], To: among[n.ID], Score: n.Score})
		}
	}
	return out, nil
}

// size returns the number of letters and digits of a name; in scripts that write a word with one or two signs
// each counts twice.
func size(name string) int {
	n := 0
	for _, r := range name {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
		case unicode.IsLetter(r), unicode.IsDigit(r):
			n++
		}
	}
	return n
}

// Trigrams compares names by the cosine of their tf-idf weighted character trigrams, with a blank before and
// after the name: it compares spellings, not meanings. It compares only names that share a rare trigram, and
// still finds every pair with a similarity of at least the threshold (see prefixes), so it is fast for hundreds
// of thousands of names.
type Trigrams struct{}

// gram is a trigram of a name with its component of the unit vector of the name.
type gram struct {
	id     int32 // rank by rarity: 0 is the rarest trigram
	weight float64
}

// Neighbors implements [Similarity].
func (Trigrams) Neighbors(ctx context.Context, names []string, threshold float64, limit int) ([][]scored, error) {
	out := make([][]scored, len(names))
	if limit <= 0 {
		return out, ctx.Err()
	}
	w, grams, err := learn(ctx, names)
	if err != nil {
		return nil, err
	}
	rare, index := prefixes(grams, threshold)
	seen := make([]int32, len(names)) // last name, plus 1, that was compared with each
	shares := make([]float64, len(w.idf))
	for i := range grams {
		if i%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, g := range grams[i] {
			shares[g.id] = g.weight
		}
		for _, g := range grams[i][:rare[i]] {
			for _, j := range index[g.id] {
				if int(j) >= i {
					break // each pair is compared once
				}
				if seen[j] == int32(i)+1 {
					continue
				}
				seen[j] = int32(i) + 1
				s := 0.0 // dot product of two unit vectors
				for _, g := range grams[j] {
					s += shares[g.id] * g.weight
				}
				if s = min(s, 1); s >= threshold {
					out[i] = append(out[i], scored{ID: j, Score: s})
					out[j] = append(out[j], scored{ID: int32(i), Score: s})
				}
			}
		}
		for _, g := range grams[i] {
			shares[g.id] = 0
		}
	}
	for i := range out {
		out[i] = rank.Best(out[i], limit)
	}
	return out, ctx.Err()
}

// prefixes cuts the list of each name's trigrams, rarest first, where the vector of the rest is shorter than
// the threshold, and lists the names by the trigrams before the cut. Two names with a similarity of at least
// the threshold share a trigram that is before the cut in both: otherwise all shared ones are after the cut of
// one of them, and by Cauchy and Schwarz these give less than the threshold (Bayardo et al., Scaling Up All
// Pairs Similarity Search, WWW 2007).
func prefixes(grams [][]gram, threshold float64) (rare []int, index [][]int32) {
	// Rounding may raise a cosine to the threshold: such a pair must be found too.
	bound := max(0, threshold-1e-9) * max(0, threshold-1e-9)
	rare = make([]int, len(grams))
	most := int32(-1)
	for i, of := range grams {
		rest := 0.0
		for end := len(of); end > 0; end-- {
			w := of[end-1].weight
			if rest += w * w; rest >= bound {
				rare[i] = end
				break
			}
		}
		for _, g := range of[:rare[i]] {
			most = max(most, g.id)
		}
	}
	index = make([][]int32, most+1)
	for i, of := range grams {
		for _, g := range of[:rare[i]] {
			index[g.id] = append(index[g.id], int32(i))
		}
	}
	return rare, index
}

// Index implements [Linker].
func (Trigrams) Index(ctx context.Context, names []string) (NameIndex, error) {
	w, grams, err := learn(ctx, names)
	if err != nil {
		return nil, err
	}
	ix := &trigramIndex{weighing: w, items: make([][]share, len(w.idf))}
	for i, of := range grams {
		for _, g := range of {
			ix.items[g.id] = append(ix.items[g.id], share{int32(i), float32(g.weight)})
		}
	}
	ix.pool.New = func() any { return &scores{sum: make([]float32, len(names))} }
	return ix, nil
}

// trigramIndex lists the names that contain each trigram, with the component of their vectors.
type trigramIndex struct {
	weighing
	items [][]share
	pool  sync.Pool
}

type share struct {
	name   int32
	weight float32
}

// scores is the memory of one search.
type scores struct {
	sum     []float32
	touched []int32
	spelling
}

func (ix *trigramIndex) Nearest(ctx context.Context, name string, k int) ([]scored, error) {
	s := ix.pool.Get().(*scores)
	defer ix.pool.Put(s)
	s.touched = s.touched[:0]
	for _, g := range ix.vector(&s.spelling, name) {
		if int(g.id) >= len(ix.idf) {
			continue // no name contains it
		}
		for _, x := range ix.items[g.id] {
			if s.sum[x.name] == 0 {
				s.touched = append(s.touched, x.name)
			}
			s.sum[x.name] += x.weight * float32(g.weight)
		}
	}
	out := make([]scored, len(s.touched))
	for i, n := range s.touched {
		out[i] = scored{ID: n, Score: min(1, float64(s.sum[n]))}
		s.sum[n] = 0
	}
	return rank.Best(out, max(0, k)), ctx.Err()
}

// weighing has the weights of the trigrams of a list of names.
type weighing struct {
	ids   map[trigram]int32
	idf   []float64
	names int
}

// spelling is reused memory for the trigrams of one name.
type spelling struct {
	trigrams []trigram
	grams    []gram
}

// vector returns the unit vector of a name, with weights tf·(1 + ln(n/df)), which is valid until the next call.
// A trigram that no name contains has an id after all others, and the weight of one that occurs once.
func (w *weighing) vector(s *spelling, name string) []gram {
	s.trigrams, s.grams = trigrams(s.trigrams[:0], name), s.grams[:0]
	for t, n := range distinct(s.trigrams) {
		id, ok := w.ids[t]
		idf := 1 + math.Log(float64(max(1, w.names)))
		if ok {
			idf = w.idf[id]
		} else {
			id = int32(len(w.idf))
		}
		s.grams = append(s.grams, gram{id, float64(n) * idf})
	}
	slices.SortFunc(s.grams, func(a, b gram) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.weight, b.weight)) })
	normalize(s.grams)
	return s.grams
}

// stride is the number of names between two checks of the context.
const stride = 1 << 8

// learn computes the weights of the trigrams of names, and returns the vectors of the names.
func learn(ctx context.Context, names []string) (w weighing, vectors [][]gram, err error) {
	frequency := make(map[trigram]int)
	var s spelling
	for i, name := range names {
		if i%stride == 0 && ctx.Err() != nil {
			return w, nil, ctx.Err()
		}
		s.trigrams = trigrams(s.trigrams[:0], name)
		for t := range distinct(s.trigrams) {
			frequency[t]++
		}
	}
	all := slices.SortedFunc(maps.Keys(frequency), func(a, b trigram) int {
		return cmp.Or(cmp.Compare(frequency[a], frequency[b]), cmp.Compare(a, b))
	})
	w = weighing{ids: make(map[trigram]int32, len(all)), idf: make([]float64, len(all)), names: len(names)}
	for id, t := range all {
		w.ids[t] = int32(id)
		w.idf[id] = 1 + math.Log(float64(len(names))/float64(frequency[t]))
	}
	vectors = make([][]gram, len(names))
	for i, name := range names {
		if i%stride == 0 && ctx.Err() != nil {
			return w, nil, ctx.Err()
		}
		vectors[i] = slices.Clone(w.vector(&s, name))
	}
	return w, vectors, nil
}

func normalize(of []gram) {
	sum := 0.0
	for _, g := range of {
		sum += g.weight * g.weight
	}
	for i := range of {
		of[i].weight /= math.Sqrt(sum)
	}
}

// trigram is three characters of 21 bits each.
type trigram uint64

// trigrams appends the trigrams of a name, with blanks around it, in ascending order.
func trigrams(dst []trigram, name string) []trigram {
	t := trigram(' '<<21 | ' ')
	first := true
	push := func(r rune) {
		if t = t<<21&(1<<63-1) | trigram(r); !first {
			dst = append(dst, t)
		}
		first = false
	}
	for _, r := range name {
		push(r)
	}
	push(' ')
	slices.Sort(dst)
	return dst
}

// distinct yields each of the sorted trigrams once, with its number of occurrences.
func distinct(all []trigram) iter.Seq2[trigram, int] {
	return func(yield func(trigram, int) bool) {
		for start, end := 0, 0; start < len(all); start = end {
			for end = start + 1; end < len(all) && all[end] == all[start]; {
				end++
			}
			if !yield(all[start], end-start) {
				return
			}
		}
	}
}
