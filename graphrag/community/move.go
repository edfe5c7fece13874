// SPDX-License-Identifier: Apache-2.0

package community

// tolerance is the part of a node's weights below which a gain is rounding.
const tolerance = 1e-12

// tally is what the gain of joining a community needs, in one place of memory.
type tally struct {
	weight float64 // sum of the weights of its nodes
	link   float64 // weight of the arcs from the node at hand, 0 in between
}

// moveNodes is the fast local move procedure (Traag et al. 2019, supplementary
// algorithm A.2, MoveNodesFast): nodes are visited in random order and moved to
// where the quality grows most, an empty community included, and only the
// neighbours of a node that moved are visited again. It reports whether any
// node moved.
//
// The gain of joining C, for a node v that is taken out of its own community,
// is E(v,C) - γ'·w(v)·W(C).
func (s *solver[W]) moveNodes(net *network[W], labels []int32) (bool, error) {
	n := net.n()
	comms := s.tallies[:n]
	clear(comms)
	sizes := s.sizes[:n]
	clear(sizes)
	for u, c := range labels {
		comms[c].weight += net.weights[u]
		sizes[c]++
	}
	empty := s.empty[:0]
	for c, size := range sizes {
		if size == 0 {
			empty = append(empty, int32(c))
		}
	}
	queue, queued := s.queue[:0], s.queued[:n]
	for u := range int32(n) {
		queued[u] = len(net.row(u)) > 0 || sizes[labels[u]] > 1
		if queued[u] {
			queue = append(queue, u)
		}
	}
	s.shuffle(queue)
	head, tail, waiting := 0, len(queue)%n, len(queue)
	queue = queue[:n]
	touched := s.touched
	moved := false

	for visits := 0; waiting > 0; visits++ {
		if visits&0xffff == 0 {
			if err := s.ctx.Err(); err != nil {
				return moved, err
			}
		}
		u := queue[head]
		if head++; head == n {
			head = 0
		}
		waiting--
		queued[u] = false
		row := net.row(u)
		t := 0
		for _, a := range row {
			c := labels[a.to]
			touched[t] = c
			if comms[c].link == 0 {
				t++
			}
			comms[c].link += float64(a.w)
		}
		own, k := labels[u], s.gamma*net.weights[u]
		comms[own].weight -= net.weights[u]
		stay := comms[own].link - k*comms[own].weight
		best, bestGain := own, stay+tolerance*(comms[own].link+k*comms[own].weight)
		for _, c := range touched[:t] {
			gain := comms[c].link - k*comms[c].weight
			comms[c].link = 0
			if gain > bestGain {
				best, bestGain = c, gain
			}
		}
		if bestGain < 0 && len(empty) > 0 {
			best = empty[len(empty)-1]
			empty = empty[:len(empty)-1]
		}
		comms[best].weight += net.weights[u]
		if best == own {
			continue
		}
		moved = true
		labels[u] = best
		sizes[best]++
		if sizes[own]--; sizes[own] == 0 {
			comms[own].weight = 0
			empty = append(empty, own)
		}
		for _, a := range row {
			if !queued[a.to] && labels[a.to] != best {
				queued[a.to] = true
				queue[tail] = a.to
				if tail++; tail == n {
					tail = 0
				}
				waiting++
			}
		}
	}
	return moved, nil
}
