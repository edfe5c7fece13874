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

// scored is a name, by its place, and how like another it is.
type scored = rank.Scored[int32]

// Similarity finds names that are like each other.
type Similarity interface {
	// Neighbors returns for each name those others whose similarity is at least threshold, at most limit of
	// them, best first, equal ones by place. Similarities are in -1..1; 1 is the same. Equal names in equal
	// order give equal results.
	Neighbors(ctx context.Context, names []string, threshold float64, limit int) ([][]scored, error)
}

// NameIndex finds the names that are nearest to a given one. It is safe for concurrent use.
type NameIndex interface {
	// Nearest returns the k most similar names, best first, equal ones by
	// place; fewer if nothing else is like it at all.
	Nearest(ctx context.Context, name string, k int) ([]scored, error)
}

// Linker is a [Similarity] that can index names to link others to them. [Trigrams] and [Embeddings] are.
type Linker interface {
	Similarity
	Index(ctx context.Context, names []string) (NameIndex, error)
}

// SynonymOptions for [Synonyms]; the zero value is HippoRAG's (arXiv 2405.14831, section
// 2.3, and the code of both versions).
type SynonymOptions struct {
	// Threshold is the least similarity, Limit the most synonyms of one name, MinSize the letters and
	// digits a name must have to look for any; 0 is the default of each.
	Threshold float64 `default:"0.8" source:"HippoRAG, section 2.3"`
	Limit     int     `default:"101" min:"0" source:"its program"` // the code stops when it has more than 100
	MinSize   int     `default:"3" min:"0" source:"its program"`   // "more than 2"
	// Among, when set, are the entities that take part.
	Among []int32
}

// Check reports all problems of the options.
func (o SynonymOptions) Check() error { return o.fill() }

// fill replaces zero values by their defaults and checks the options.
func (o *SynonymOptions) fill() error {
	c := opt.Checks{Of: "link: synonyms"}
	c.Fill(o)
	c.Want(o.Threshold > 0 && o.Threshold <= 1, "Threshold", o.Threshold, "more than 0, at most 1")
	return c.Err()
}

// Synonyms compares the keys of the entities and returns the synonyms of each, sorted by From, then best first.
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

// size measures the information in a name: letters and digits, counted twice in
// scripts that write a word with one or two signs.
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
// behind: it knows spellings, not meanings. It compares only names that share a rare trigram and still finds
// every pair at or above the threshold (see prefixes), so hundreds of thousands of names are no trouble.
type Trigrams struct{}

// gram is a trigram of a name with its share of the unit vector.
type gram struct {
	id     int32 // by rarity: the rarest trigram is 0
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
	seen := make([]int32, len(names)) // by whom, plus 1
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
					break // each pair once: j finds i
				}
				if seen[j] == int32(i)+1 {
					continue
				}
				seen[j] = int32(i) + 1
				s := 0.0 // the product of two unit vectors
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

// prefixes cuts each name's trigrams, rarest first, where the rest is shorter than the threshold, and lists the
// names by the trigrams before the cut. Two names at or above the threshold share a trigram before both cuts: if
// they share none there, all they share lies behind the cut of one of them, and by Cauchy and Schwarz that rest
// gives less than the threshold (Bayardo et al., Scaling Up All Pairs Similarity Search, WWW 2007).
func prefixes(grams [][]gram, threshold float64) (rare []int, index [][]int32) {
	// What rounding may add to a cosine must not lose a pair.
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

// trigramIndex lists the names of each trigram, with its share of their vectors.
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
			continue // in no name
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

// weighing contains the weights of the trigrams of some names.
type weighing struct {
	ids   map[trigram]int32
	idf   []float64
	names int
}

// spelling is the memory of one name after the other.
type spelling struct {
	trigrams []trigram
	grams    []gram
}

// vector is the unit vector of a name, of tf·(1 + ln(n/df)), until the next one. A trigram of
// none of the names has an id behind all others and the weight of one that occurs once.
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

// stride is the number of names between two looks at the context.
const stride = 1 << 8

// learn weighs the trigrams of some names, and returns the vectors of the names.
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

// trigram is three characters, of 21 bits each.
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

// distinct yields each of some sorted trigrams once, with the number of times that it occurs.
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
