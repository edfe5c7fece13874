// SPDX-License-Identifier: Apache-2.0

package community

import (
	"math"
	"math/rand/v2"
	"slices"
)

// negligible is an exponent at which exp is too small to change a sum of 1 or more.
const negligible = -40

// subset is a part C of a community S, which grows during the refinement.
type subset[W float] struct {
	weight W // W(C), the weight of the part
	cut    W // E(C, S-C), the weight between the part and the rest of S
	link   W // weight of the arcs from the current node; zero otherwise
	part   int32
	alone  bool // the part is still a single node
	well   bool // the part is well connected to the rest of S
}

// refiner splits one community at a time. It works on a copy: a network of the community's nodes, numbered from
// 0, and the arcs between them.
type refiner[W float] struct {
	gamma      float64
	theta      float64
	rng        rand.PCG
	greedy     bool
	net        network[W]
	total      float64 // weight of the community
	subsets    []subset[W]
	order      []int32
	candidates []int32
	choices    []int32
	gains      []float64
}

// refine splits each community into well-connected parts (Traag et al. 2019, supplementary algorithm A.2,
// RefinePartition and MergeNodesSubset) and returns the number of parts. At first each node of a community S is
// a part. In random order, each node v that is still alone and well connected, E(v, S-v) ≥ γ'·w(v)·W(S-v),
// joins one of the well-connected parts C, E(C, S-C) ≥ γ'·W(C)·W(S-C), with a gain of at least 0, with a
// probability proportional to exp(gain/θ). Node weights are strengths in the whole network.
//
// A greedy refinement takes the part of greatest gain instead; a node stays alone if all gains are below 0.
//
// Each community has random numbers of its own.
func (s *solver[W]) refine(net *network[W], lv *layer[W], greedy bool) (int, error) {
	n, k := net.n(), lv.comms.count()
	places := s.queue[:n]
	for i, u := range lv.comms.members {
		places[u] = int32(i)
	}
	lv.part = slices.Grow(lv.part[:0], n)[:n]
	lv.counts = slices.Grow(lv.counts[:0], k)[:k]
	lv.parts.members = slices.Grow(lv.parts.members[:0], n)[:n]
	seed, r := s.rng.Uint64(), &s.refiner
	r.gamma, r.theta, r.greedy = s.gamma, s.theta, greedy
	var neighbours []int32 // places of the neighbours of the members below ready
	ready := int32(0)
	for c := range k {
		if c%looked == 0 && s.ctx.Err() != nil {
			return 0, s.ctx.Err()
		}
		first, last := lv.comms.starts[c], lv.comms.starts[c+1]
		r.net.reset(0, 0)
		for at := first; at < last; at++ {
			if at == ready {
				ready = min(at+batch, int32(n))
				s.gather(net, places, lv.comms.members[at:ready])
				neighbours = s.neighbours
			}
			neighbours = r.net.load(net, lv.comms.members[at], neighbours, first, last-first)
		}
		r.begin()
		if last-first > 1 {
			r.rng.Seed(seed, uint64(c))
			r.merge()
		}
		lv.counts[c] = r.number(lv.comms.members[first:last], lv.part, lv.parts.members[first:last], s.sizes[first:last])
	}
	return lv.number(s.sizes), nil
}

// whole makes each community one part, and returns the number of communities.
func (lv *layer[W]) whole(labels []int32) int {
	lv.part = append(lv.part[:0], labels...)
	lv.parts, lv.comms = lv.comms, lv.parts
	return lv.parts.count()
}

// number numbers the parts by community, so that the nodes of a community are consecutive at the next level,
// and returns their number. sizes holds the sizes of the parts of each community, from its first place on.
func (lv *layer[W]) number(sizes []int32) int {
	lv.parts.starts = append(lv.parts.starts[:0], 0)
	sum := int32(0)
	for c, count := range lv.counts {
		before := int32(lv.parts.count())
		first, last := lv.comms.starts[c], lv.comms.starts[c+1]
		for _, size := range sizes[first : first+count] {
			sum += size
			lv.parts.starts = append(lv.parts.starts, sum)
		}
		for _, u := range lv.comms.members[first:last] {
			lv.part[u] += before
		}
	}
	return lv.parts.count()
}

// load copies node u of a community, with its arcs to other nodes of the community, which has the places first
// to first+size-1. It returns the rest of places. It has no branch, because whether an arc is inside is
// unpredictable.
func (net *network[W]) load(from *network[W], u int32, places []int32, first, size int32) []int32 {
	row, end := from.row(u), len(net.arcs)
	net.arcs = slices.Grow(net.arcs, len(row))
	out, count := net.arcs[end:end+len(row)], 0
	neighbours := places[:len(row)]
	for i, a := range row {
		to, inside := uint32(neighbours[i]-first), 0
		if to < uint32(size) {
			inside = 1
		}
		out[count] = arc[W]{int32(to), a.w}
		count += inside
	}
	net.arcs = net.arcs[:end+count]
	net.end(from.weights[u])
	return places[len(row):]
}

// begin makes each node a part.
func (r *refiner[W]) begin() {
	r.subsets, r.total = r.subsets[:0], 0
	for u, weight := range r.net.weights {
		cut := W(0)
		for _, a := range r.net.row(int32(u)) {
			cut += a.w
		}
		r.total += float64(weight)
		r.subsets = append(r.subsets, subset[W]{weight: weight, cut: cut, part: int32(u), alone: true})
	}
}

// merge joins nodes that are alone to parts, in random order.
func (r *refiner[W]) merge() {
	n := len(r.subsets)
	r.order = slices.Grow(r.order[:0], n)[:n]
	singletons(r.order)
	shuffle(&r.rng, r.order)
	for u := range r.subsets {
		r.subsets[u].well = r.wellConnected(&r.subsets[u])
	}
	for _, u := range r.order {
		own := &r.subsets[u]
		if !own.alone || !own.well {
			continue
		}
		r.gather(r.net.row(u))
		into := r.choose(u)
		joined := &r.subsets[into]
		link := joined.link
		for _, p := range r.candidates {
			r.subsets[p].link = 0
		}
		if into == u {
			continue
		}
		own.part = into
		joined.alone = false
		joined.weight += own.weight
		joined.cut += own.cut - 2*link
		joined.well = r.wellConnected(joined)
		own.alone = false
	}
}

// number numbers the parts in the order of the members, sorts the members by part into sorted, writes the sizes
// of the parts, and returns their number.
func (r *refiner[W]) number(members, part, sorted, sizes []int32) int32 {
	numbers := r.order[:0]
	for range members {
		numbers = append(numbers, -1)
	}
	r.order = numbers
	count := int32(0)
	for _, own := range r.subsets {
		if numbers[own.part] < 0 {
			numbers[own.part], sizes[count] = count, 0
			count++
		}
		sizes[numbers[own.part]]++
	}
	starts, sum := slices.Grow(r.candidates[:0], int(count))[:count], int32(0)
	for p, size := range sizes[:count] {
		starts[p], sum = sum, sum+size
	}
	r.candidates = starts
	for i, own := range r.subsets {
		p := numbers[own.part]
		part[members[i]] = p
		sorted[starts[p]] = members[i]
		starts[p]++
	}
	return count
}

// gather sums the arcs of a row by the part they lead to.
func (r *refiner[W]) gather(row []arc[W]) {
	r.candidates = slices.Grow(r.candidates[:0], len(row)+1)
	t, touched := 0, r.candidates[:len(row)+1]
	for _, a := range row {
		p := r.subsets[a.to].part
		touched[t] = p
		if r.subsets[p].link == 0 {
			t++
		}
		r.subsets[p].link += a.w
	}
	r.candidates = touched[:t]
}

// wellConnected reports whether a part is well connected to the rest of its community.
func (r *refiner[W]) wellConnected(p *subset[W]) bool {
	weight := float64(p.weight)
	return float64(p.cut)*(1+tolerance) >= r.gamma*weight*(r.total-weight)
}

// choose returns the part that node u joins, or u if it stays alone.
func (r *refiner[W]) choose(u int32) int32 {
	k := r.gamma * float64(r.subsets[u].weight)
	r.gains = append(r.gains[:0], 0)
	r.choices = append(r.choices[:0], u)
	best, bestGain := u, 0.0
	for _, p := range r.candidates {
		sub := &r.subsets[p]
		gain := float64(sub.link)*(1+tolerance) - k*float64(sub.weight)
		if gain < 0 || !sub.well {
			continue
		}
		r.gains = append(r.gains, gain)
		r.choices = append(r.choices, p)
		if gain > bestGain || best == u {
			best, bestGain = p, gain
		}
	}
	if len(r.gains) == 1 || r.greedy {
		return best
	}
	sum := 0.0
	for i, gain := range r.gains {
		if x := (gain - bestGain) / r.theta; x > negligible {
			sum += math.Exp(x)
		}
		r.gains[i] = sum
	}
	draw := float64(r.rng.Uint64()>>11) / (1 << 53) * sum
	for i, upTo := range r.gains {
		if draw < upTo {
			return r.choices[i]
		}
	}
	return best
}
