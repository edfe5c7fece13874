// SPDX-License-Identifier: Apache-2.0

package community

import (
	"cmp"
	"math"
	"slices"
)

// RelationSimilarity is how S_r compares the relations of an entity with those
// of a community; the paper's norm leaves it open.
type RelationSimilarity int

const (
	// MultisetJaccard is Σmin/Σmax over the counts of relations, the default.
	MultisetJaccard RelationSimilarity = iota
	// SetJaccard is the share of relations in common, counts left aside.
	SetJaccard
	// EuclideanJaccard is √Σmin²/√Σmax², the literal reading.
	EuclideanJaccard
)

// tie is how often a relation is incident; profiles, Ψ in the paper, are ties in
// ascending order of the relation.
type tie struct {
	relation int32
	count    int32
}

// profiles holds Ψ of each entity in compressed rows.
type profiles struct {
	offsets []int
	ties    []tie
}

func (p *profiles) of(e int32) []tie { return p.ties[p.offsets[e]:p.offsets[e+1]] }

func newProfiles(n int, triples []Triple, direction Direction) *profiles {
	type mention struct{ entity, relation int32 }
	var all []mention
	for _, t := range triples {
		all = append(all, mention{t.Head, t.Relation})
		if direction == BothDirections && t.Head != t.Tail {
			all = append(all, mention{t.Tail, t.Relation})
		}
	}
	slices.SortFunc(all, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.entity, b.entity), cmp.Compare(a.relation, b.relation))
	})
	p := &profiles{offsets: make([]int, n+1)}
	for i, m := range all {
		if i == 0 || all[i-1] != m {
			p.ties = append(p.ties, tie{relation: m.relation})
		}
		p.ties[len(p.ties)-1].count++
		p.offsets[m.entity+1] = len(p.ties)
	}
	for e := range n {
		p.offsets[e+1] = max(p.offsets[e+1], p.offsets[e])
	}
	return p
}

// mergeTies adds up two profiles.
func mergeTies(a, b []tie) []tie {
	sum := make([]tie, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].relation < b[0].relation:
			sum, a = append(sum, a[0]), a[1:]
		case a[0].relation > b[0].relation:
			sum, b = append(sum, b[0]), b[1:]
		default:
			sum = append(sum, tie{a[0].relation, a[0].count + b[0].count})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(sum, a...), b...)
}

// circle is a community that is being formed.
type circle struct {
	members []int32
	sum     []float64 // of the vectors, the direction of the centroid
	length  float64   // of sum
	unit    []float64 // sum of the vectors scaled to length 1
	ties    []tie     // Ψ(C)
	ordinal float64   // measure of Ψ(C): total, number or sum of squares of the counts
	center  int32     // the member with the largest φ
	own     float64   // mean φ of the members
}

// perception computes dual-perception scores.
type perception struct {
	n, dim   int
	vectors  []float32
	lengths  []float64
	profiles *profiles
	opts     DualOptions
}

func newPerception(vectors []float32, dim int, triples []Triple, opts DualOptions) *perception {
	p := &perception{n: len(vectors) / dim, dim: dim, vectors: vectors, opts: opts}
	p.profiles = newProfiles(p.n, triples, opts.Direction)
	p.lengths = make([]float64, p.n)
	for e := range p.lengths {
		sum := 0.0
		for _, x := range p.vector(int32(e)) {
			sum += float64(x) * float64(x)
		}
		p.lengths[e] = math.Sqrt(sum)
	}
	return p
}

func (p *perception) vector(e int32) []float32 { return p.vectors[int(e)*p.dim:][:p.dim] }

// circle makes a community of entities.
func (p *perception) circle(members []int32) *circle {
	c := &circle{members: members, sum: make([]float64, p.dim), unit: make([]float64, p.dim)}
	var all []tie
	for _, e := range members {
		for i, x := range p.vector(e) {
			c.sum[i] += float64(x)
			if p.lengths[e] > 0 {
				c.unit[i] += float64(x) / p.lengths[e]
			}
		}
		all = append(all, p.profiles.of(e)...)
	}
	slices.SortFunc(all, func(a, b tie) int { return cmp.Compare(a.relation, b.relation) })
	for _, t := range all {
		if last := len(c.ties) - 1; last >= 0 && c.ties[last].relation == t.relation {
			c.ties[last].count += t.count
		} else {
			c.ties = append(c.ties, t)
		}
	}
	p.settle(c)
	return c
}

// join makes one community of two.
func (p *perception) join(a, b *circle) *circle {
	c := &circle{
		members: append(slices.Clone(a.members), b.members...),
		sum:     slices.Clone(a.sum),
		unit:    slices.Clone(a.unit),
		ties:    mergeTies(a.ties, b.ties),
	}
	slices.Sort(c.members)
	for i := range c.sum {
		c.sum[i] += b.sum[i]
		c.unit[i] += b.unit[i]
	}
	p.settle(c)
	return c
}

// settle computes what follows from the members.
func (p *perception) settle(c *circle) {
	c.length = norm(c.sum)
	c.ordinal = 0
	for _, t := range c.ties {
		c.ordinal += p.measure(t.count)
	}
	best := math.Inf(-1)
	c.own = 0
	for _, e := range c.members {
		score := p.score(e, c)
		c.own += score / float64(len(c.members))
		if score > best {
			best, c.center = score, e
		}
	}
}

// score is φ(e,C) = S_r ⊕ λ·S_s (equation 5).
func (p *perception) score(e int32, c *circle) float64 {
	return p.opts.combine(p.relational(p.profiles.of(e), c), p.cosine(e, c))
}

// cosine is S_s(e,C), the cosine of an entity and the centroid (equation 6);
// with a vector of zeros it is 0.
func (p *perception) cosine(e int32, c *circle) float64 {
	if p.lengths[e] == 0 || c.length == 0 {
		return 0
	}
	sum := 0.0
	for i, x := range p.vector(e) {
		sum += float64(x) * c.sum[i]
	}
	return sum / (p.lengths[e] * c.length)
}

// measure is what a count is worth under the kind of similarity.
func (p *perception) measure(count int32) float64 {
	switch p.opts.Relations {
	case SetJaccard:
		return min(1, float64(count))
	case EuclideanJaccard:
		return float64(count) * float64(count)
	}
	return float64(count)
}

// relational is S_r(e,C) = ‖Ψ(e)∩Ψ(C)‖ / ‖Ψ(e)∪Ψ(C)‖; 1 if both are empty.
func (p *perception) relational(ties []tie, c *circle) float64 {
	both, either := 0.0, c.ordinal
	rest := c.ties
	for _, t := range ties {
		at, found := slices.BinarySearchFunc(rest, t.relation, func(t tie, r int32) int { return cmp.Compare(t.relation, r) })
		rest = rest[at:]
		if !found {
			either += p.measure(t.count)
			continue
		}
		both += p.measure(min(t.count, rest[0].count))
		either += p.measure(max(t.count, rest[0].count)) - p.measure(rest[0].count)
	}
	switch {
	case either == 0:
		return 1
	case p.opts.Relations == EuclideanJaccard:
		return math.Sqrt(both / either)
	}
	return both / either
}

// divergence is D(a→b): how much better, on average, the members of a fit into
// a than into b (equation 7). The mean cosine is one product, since
// mean cos(e,C) = Σ e/‖e‖ · C/‖C‖ / |a|.
func (p *perception) divergence(a, b *circle) float64 {
	size := float64(len(a.members))
	relational := 0.0
	for _, e := range a.members {
		relational += p.relational(p.profiles.of(e), b)
	}
	cosine := 0.0
	if b.length > 0 {
		cosine = dot(a.unit, b.sum) / b.length
	}
	return a.own - p.opts.combine(relational/size, cosine/size)
}

// degree is the number of triples of an entity, |Ψ(e)|.
func (p *perception) degree(e int32) float64 {
	sum := 0.0
	for _, t := range p.profiles.of(e) {
		sum += float64(t.count)
	}
	return sum
}

// ranked returns the members of a community by descending φ, or by degree and
// cosine in the mode of the code; equal ones by number.
func (p *perception) ranked(c *circle) []int32 {
	scores := make(map[int32]float64, len(c.members))
	most := 1.0
	for _, e := range c.members {
		most = max(most, p.degree(e))
	}
	for _, e := range c.members {
		if p.opts.Merge == CenterCosine {
			scores[e] = p.opts.combine(p.degree(e)/most, p.cosine(e, c))
		} else {
			scores[e] = p.score(e, c)
		}
	}
	order := slices.Clone(c.members)
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return order
}
