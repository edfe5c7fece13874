// SPDX-License-Identifier: Apache-2.0

package perception

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// relationCount is a relation and the number of times that an entity or a community is part of it. A profile, Ψ
// in the paper, is a list of these in ascending order of the relation.
type relationCount struct {
	relation int32
	count    int32
}

// profiles holds the profile of each entity, as compressed rows.
type profiles struct {
	offsets []int
	counts  []relationCount
}

func (p *profiles) of(e int32) []relationCount { return p.counts[p.offsets[e]:p.offsets[e+1]] }

func newProfiles(n int, triples []Triple) *profiles {
	type mention struct{ entity, relation int32 }
	var all []mention
	for _, t := range triples {
		all = append(all, mention{t.Head, t.Relation})
		if t.Head != t.Tail {
			all = append(all, mention{t.Tail, t.Relation})
		}
	}
	slices.SortFunc(all, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.entity, b.entity), cmp.Compare(a.relation, b.relation))
	})
	p := &profiles{offsets: make([]int, n+1)}
	for i, m := range all {
		if i == 0 || all[i-1] != m {
			p.counts = append(p.counts, relationCount{relation: m.relation})
		}
		p.counts[len(p.counts)-1].count++
		p.offsets[m.entity+1] = len(p.counts)
	}
	for e := range n {
		p.offsets[e+1] = max(p.offsets[e+1], p.offsets[e])
	}
	return p
}

// tally merges profiles by adding their counts; it reuses the memory of all.
func tally(all []relationCount) []relationCount {
	slices.SortFunc(all, func(a, b relationCount) int { return cmp.Compare(a.relation, b.relation) })
	sum := all[:0]
	for _, t := range all {
		if last := len(sum) - 1; last >= 0 && sum[last].relation == t.relation {
			sum[last].count += t.count
		} else {
			sum = append(sum, t)
		}
	}
	return sum
}

// group is a community, with its vectors and scores, during merging.
type group struct {
	members []int32
	sum     []float64       // sum of the vectors, which points to the centroid
	length  float64         // length of sum
	unit    []float64       // sum of the vectors scaled to length 1
	profile []relationCount // profile of the community, Ψ(C)
	norm    float64         // ‖Ψ(C)‖: sum of the counts
	center  int32           // member with the largest φ
	score   float64         // mean φ of the members
}

// perception computes dual-perception scores with the RelationWeight and Lambda of the options.
type perception struct {
	n, dim   int
	vectors  []float32
	lengths  []float64
	profiles *profiles
	opts     Options
}

func newPerception(vectors []float32, dim int, triples []Triple, opts Options) *perception {
	p := &perception{n: len(vectors) / dim, dim: dim, vectors: vectors, opts: opts}
	p.profiles = newProfiles(p.n, triples)
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

// group makes a community of entities.
func (p *perception) group(nodes []int32) *group {
	c := &group{members: nodes, sum: make([]float64, p.dim), unit: make([]float64, p.dim)}
	var all []relationCount
	for _, e := range nodes {
		for i, x := range p.vector(e) {
			c.sum[i] += float64(x)
			if p.lengths[e] > 0 {
				c.unit[i] += float64(x) / p.lengths[e]
			}
		}
		all = append(all, p.profiles.of(e)...)
	}
	c.profile = tally(all)
	p.update(c)
	return c
}

// join merges two communities into one.
func (p *perception) join(a, b *group) *group {
	c := &group{
		members: append(slices.Clone(a.members), b.members...),
		sum:     slices.Clone(a.sum),
		unit:    slices.Clone(a.unit),
		profile: tally(slices.Concat(a.profile, b.profile)),
	}
	slices.Sort(c.members)
	for i := range c.sum {
		c.sum[i] += b.sum[i]
		c.unit[i] += b.unit[i]
	}
	p.update(c)
	return c
}

// update computes the fields that depend on the members.
func (p *perception) update(c *group) {
	c.length = norm(c.sum)
	c.norm = 0
	for _, t := range c.profile {
		c.norm += float64(t.count)
	}
	best := math.Inf(-1)
	c.score = 0
	for _, e := range c.members {
		score := p.score(e, c)
		c.score += score / float64(len(c.members))
		if score > best {
			best, c.center = score, e
		}
	}
}

// combine computes the operation ⊕ of equation 5.
func (p *perception) combine(relational, semantic float64) float64 {
	if p.opts.Lambda > 0 {
		return relational + p.opts.Lambda*semantic
	}
	return p.opts.RelationWeight*relational + (1-p.opts.RelationWeight)*semantic
}

// score computes φ(e,C) = S_r ⊕ λ·S_s (equation 5).
func (p *perception) score(e int32, c *group) float64 {
	return p.combine(p.relational(p.profiles.of(e), c), p.cosine(e, c))
}

// cosine computes S_s(e,C), the cosine of an entity and the centroid (equation 6), 0 for a zero vector.
func (p *perception) cosine(e int32, c *group) float64 {
	if p.lengths[e] == 0 || c.length == 0 {
		return 0
	}
	sum := 0.0
	for i, x := range p.vector(e) {
		sum += float64(x) * c.sum[i]
	}
	return sum / (p.lengths[e] * c.length)
}

// relational computes S_r(e,C) = ‖Ψ(e)∩Ψ(C)‖ / ‖Ψ(e)∪Ψ(C)‖. The paper does not define the norm; here it is
// Σmin/Σmax over the counts of relations, and 1 if both profiles are empty.
func (p *perception) relational(profile []relationCount, c *group) float64 {
	both, either := 0.0, c.norm
	rest := c.profile
	for _, t := range profile {
		at, found := slices.BinarySearchFunc(rest, t.relation, func(t relationCount, r int32) int { return cmp.Compare(t.relation, r) })
		rest = rest[at:]
		if !found {
			either += float64(t.count)
			continue
		}
		both += float64(min(t.count, rest[0].count))
		either += float64(max(0, t.count-rest[0].count))
	}
	if either == 0 {
		return 1
	}
	return both / either
}

// divergence computes D(a→b): the mean difference between how well the members of a fit into a and into b
// (equation 7). The mean cosine is one product, since mean cos(e,C) = Σ e/‖e‖ · C/‖C‖ / |a|.
func (p *perception) divergence(a, b *group) float64 {
	size := float64(len(a.members))
	relational := 0.0
	for _, e := range a.members {
		relational += p.relational(p.profiles.of(e), b)
	}
	cosine := 0.0
	if b.length > 0 {
		cosine = dot(a.unit, b.sum) / b.length
	}
	return a.score - p.combine(relational/size, cosine/size)
}

// ranked returns the members of a community by descending score, equal scores by number.
func ranked(c *group, score func(e int32) float64) []int32 {
	scores := make(map[int32]float64, len(c.members))
	for _, e := range c.members {
		scores[e] = score(e)
	}
	order := slices.Clone(c.members)
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return order
}

// Triple is a fact: two entities and the relation between them, by number.
type Triple struct {
	Head, Relation, Tail int32
}

// EntityVectors represents entities by their triples (Youtu-GraphRAG, equation 4): the mean, over the triples
// of an entity, of the concatenated vectors of head, relation and tail. A triple counts for its head and its
// tail, and once for an entity that is both. entities and relations hold a vector of dim components for each
// entity and relation, row after row; the result has a row of 3·dim components for each entity. An entity
// without triples gets its own vector, followed by zeros.
func EntityVectors(entities []float32, dim int, relations []float32, triples []Triple) ([]float32, error) {
	n, err := checkVectors("entities", entities, dim)
	rels, relErr := checkVectors("relations", relations, dim)
	if err := errors.Join(err, relErr); err != nil {
		return nil, err
	}
	if err := checkTriples(triples, n, rels); err != nil {
		return nil, err
	}
	sums, counts := make([]float64, n*3*dim), make([]int, n)
	add := func(e int32, t Triple) {
		row := sums[int(e)*3*dim:][:3*dim]
		for i := range dim {
			row[i] += float64(entities[int(t.Head)*dim+i])
			row[dim+i] += float64(relations[int(t.Relation)*dim+i])
			row[2*dim+i] += float64(entities[int(t.Tail)*dim+i])
		}
		counts[e]++
	}
	for _, t := range slices.SortedFunc(slices.Values(triples), compareTriples) { // sorted, so that sums do not depend on the given order
		add(t.Head, t)
		if t.Tail != t.Head {
			add(t.Tail, t)
		}
	}
	out := make([]float32, len(sums))
	for e := range n {
		row := sums[e*3*dim:][:3*dim]
		scale := 1 / float64(counts[e])
		if counts[e] == 0 {
			for i := range dim {
				row[i] = float64(entities[e*dim+i])
			}
			scale = 1
		}
		for i, x := range row {
			out[e*3*dim+i] = float32(x * scale)
		}
	}
	return out, nil
}

func compareTriples(a, b Triple) int {
	return cmp.Or(cmp.Compare(a.Head, b.Head), cmp.Compare(a.Tail, b.Tail), cmp.Compare(a.Relation, b.Relation))
}

// checkVectors checks a matrix and returns its number of rows.
func checkVectors(what string, vectors []float32, dim int) (int, error) {
	if dim < 1 || len(vectors)%dim != 0 || len(vectors)/dim > math.MaxInt32 {
		return 0, fmt.Errorf("perception: %s: %d components do not make rows of %d", what, len(vectors), dim)
	}
	for i, x := range vectors {
		if x-x != 0 {
			return 0, fmt.Errorf("perception: %s: component %d of row %d is %v, not a finite number", what, i%dim, i/dim, x)
		}
	}
	return len(vectors) / dim, nil
}

func checkTriples(triples []Triple, entities, relations int) error {
	within := func(id int32, n int) bool { return id >= 0 && int(id) < n }
	for i, t := range triples {
		if !within(t.Head, entities) || !within(t.Tail, entities) || !within(t.Relation, relations) {
			return fmt.Errorf("perception: triple %d is (%d, %d, %d) for %d entities and %d relations",
				i, t.Head, t.Relation, t.Tail, entities, relations)
		}
	}
	return nil
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}
