// SPDX-License-Identifier: Apache-2.0

package community

import "math"

// negligible is where an exponential no longer changes a sum of 1 or more.
const negligible = -40

// subset is a part of a community that grows during the refinement.
type subset[W weight] struct {
	weight W // W(C)
	cut    W // E(C, S-C), S the community it is a part of
	link   W // weight of the arcs from the node at hand, 0 in between
}

// refine splits each community into parts that are well connected inside
// (Traag et al. 2019, supplementary algorithm A.2, RefinePartition and
// MergeNodesSubset) and returns the number of parts; s.parts holds them, numbered
// community by community. Each node of a community S begins as a part
// of its own. In random order, a node v that is still alone and well connected,
// E(v, S-v) ≥ γ'·w(v)·W(S-v), joins a part C that is well connected,
// E(C, S-C) ≥ γ'·W(C)·W(S-C), with a probability in proportion to exp(gain/θ)
// among those where the gain is not negative. Node weights are those of the
// whole network.
//
// A greedy refinement takes the best part instead, and stays alone only if all
// others lose.
func (s *solver[W]) refine(net *network[W], labels []int32, comms *groups, greedy bool) int {
	n := net.n()
	parts, alone, part := s.subsets[:n], s.alone[:n], s.parts[:n]
	for u := range int32(n) {
		cut := W(0)
		for _, a := range net.row(u) {
			if labels[a.to] == labels[u] {
				cut += a.w
			}
		}
		parts[u] = subset[W]{weight: net.weights[u], cut: cut}
		alone[u] = true
		part[u] = u
	}
	count := n
	for c := range comms.count() {
		members := comms.of(c)
		if len(members) < 2 {
			continue
		}
		total := 0.0
		for _, u := range members {
			total += float64(net.weights[u])
		}
		order := append(s.order[:0], members...)
		s.shuffle(order)
		for i, u := range order {
			if i%prefetched == 0 {
				net.fetch(order[i:min(i+prefetched, len(order))])
			}
			if !alone[u] || !s.wellConnected(parts[u], total) {
				continue
			}
			into := s.choose(u, total, s.gatherParts(net.row(u), labels, int32(c)), greedy)
			link := parts[into].link
			s.clearLinks()
			if into == u {
				continue
			}
			part[u] = into
			alone[into] = false
			parts[into].weight += net.weights[u]
			parts[into].cut += parts[u].cut - 2*link
			count--
		}
	}
	return count
}

// gatherParts adds up the arcs of a node to the parts of its community.
func (s *solver[W]) gatherParts(row []arc[W], labels []int32, community int32) []int32 {
	t := 0
	for _, a := range row {
		if labels[a.to] != community {
			continue
		}
		p := s.parts[a.to]
		s.touched[t] = p
		if s.subsets[p].link == 0 {
			t++
		}
		s.subsets[p].link += a.w
	}
	s.candidates = s.touched[:t]
	return s.candidates
}

func (s *solver[W]) clearLinks() {
	for _, p := range s.candidates {
		s.subsets[p].link = 0
	}
}

// wellConnected reports whether a part is well connected to the rest of its
// community, whose weight is total.
func (s *solver[W]) wellConnected(p subset[W], total float64) bool {
	weight := float64(p.weight)
	return float64(p.cut)*(1+tolerance) >= s.gamma*weight*(total-weight)
}

// choose picks the part that the lone node u joins, u for none.
func (s *solver[W]) choose(u int32, total float64, candidates []int32, greedy bool) int32 {
	k := s.gamma * float64(s.subsets[u].weight)
	s.gains = append(s.gains[:0], 0)
	s.choices = append(s.choices[:0], u)
	best, bestGain := u, 0.0
	for _, p := range candidates {
		sub := s.subsets[p]
		gain := float64(sub.link)*(1+tolerance) - k*float64(sub.weight)
		if gain < 0 || !s.wellConnected(sub, total) {
			continue
		}
		s.gains = append(s.gains, gain)
		s.choices = append(s.choices, p)
		if gain > bestGain || best == u {
			best, bestGain = p, gain
		}
	}
	if len(s.gains) == 1 || greedy {
		return best
	}
	sum := 0.0
	for i, gain := range s.gains {
		if x := (gain - bestGain) / s.theta; x > negligible {
			sum += math.Exp(x)
		}
		s.gains[i] = sum
	}
	draw := s.float() * sum
	for i, upTo := range s.gains {
		if draw < upTo {
			return s.choices[i]
		}
	}
	return best
}
