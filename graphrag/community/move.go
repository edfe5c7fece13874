// SPDX-License-Identifier: Apache-2.0

package community

// tolerance is the part of a node's weights below which a gain is rounding.
const tolerance = 1e-12

// tally is what the gain of joining a community needs, in one place of memory.
type tally[W weight] struct {
	weight W // sum of the weights of its nodes
	link   W // weight of the arcs from the node at hand, 0 in between
}

// queued is the slack of nodes that wait to be visited.
const queued = -1

// moveNodes is the fast local move procedure (Traag et al. 2019, supplementary
// algorithm A.2, MoveNodesFast): nodes are visited in random order and moved to
// where the quality grows most, an empty community included, and after a move
// those neighbours are visited again that could gain by it. It reports whether
// any node moved.
//
// The gain of joining C, for a node v that is taken out of its own community,
// is E(v,C) - γ'·w(v)·W(C). The slack of a node is by how much its community was
// better than the next best one when it was last visited. The move of a
// neighbour can use up the weight of their edge of it, and while there is some
// left, a visit would find nothing. What a move changes in W(C) is left to the
// next pass, as in the paper for nodes that are not neighbours.
func (s *solver[W]) moveNodes(net *network[W], labels []int32) (bool, error) {
	n := net.n()
	tallies, empty := s.count(net, labels)
	slack := s.slack[:n]
	queue := s.queue[:0]
	for u := range int32(n) {
		slack[u] = 0
		if len(net.row(u)) > 0 || s.sizes[labels[u]] > 1 {
			slack[u] = queued
			queue = append(queue, u)
		}
	}
	s.shuffle(queue)
	head, waiting := 0, len(queue)
	tail := waiting % n
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
		if head%prefetched == 0 {
			net.fetch(queue[head:min(head+min(prefetched, waiting), n)])
		}
		if head++; head == n {
			head = 0
		}
		waiting--
		row := net.row(u)
		t := linkUp(row, labels, tallies, touched)
		own, k := labels[u], s.gamma*float64(net.weights[u])
		tallies[own].weight -= net.weights[u]
		link, rest := float64(tallies[own].link), k*float64(tallies[own].weight)
		tallies[own].link = 0
		best, bestGain, next := own, link-rest+tolerance*(link+rest), 0.0
		for _, c := range touched[:t] {
			if c == own {
				continue
			}
			gain := float64(tallies[c].link) - k*float64(tallies[c].weight)
			tallies[c].link = 0
			if gain > bestGain {
				next = max(next, bestGain)
				best, bestGain = c, gain
			} else if gain > next {
				next = gain
			}
		}
		if bestGain < 0 && len(empty) > 0 {
			best, bestGain, next = empty[len(empty)-1], 0, bestGain
			empty = empty[:len(empty)-1]
		}
		tallies[best].weight += net.weights[u]
		slack[u] = W(max(0, bestGain-next))
		if best == own {
			continue
		}
		moved = true
		labels[u] = best
		s.sizes[best]++
		if s.sizes[own]--; s.sizes[own] == 0 {
			tallies[own].weight = 0
			empty = append(empty, own)
		}
		added := wake(row, labels, slack, best, queue, tail)
		waiting += added
		if tail += added; tail >= n {
			tail -= n
		}
	}
	return moved, nil
}

// linkUp adds up the arcs of a row by community, lists those communities in
// touched and returns their number. Apart from moveNodes it has enough registers.
//
//go:noinline
func linkUp[W weight](row []arc[W], labels []int32, tallies []tally[W], touched []int32) int {
	t := 0
	for _, a := range row {
		c := labels[a.to]
		touched[t] = c
		to := &tallies[c]
		if to.link == 0 {
			t++
		}
		to.link += a.w
	}
	return t
}

// wake takes the arcs of a node that moved into best from the slack of its
// neighbours and queues those that have none left. It returns how many.
func wake[W weight](row []arc[W], labels []int32, slack []W, best int32, queue []int32, tail int) int {
	added := 0
	for _, a := range row {
		left := slack[a.to]
		if left == queued || labels[a.to] == best {
			continue
		}
		if left -= a.w; left <= 0 {
			left = queued
			queue[tail] = a.to
			if tail++; tail == len(queue) {
				tail = 0
			}
			added++
		}
		slack[a.to] = left
	}
	return added
}

// count adds up the communities and returns them with the labels of empty ones.
func (s *solver[W]) count(net *network[W], labels []int32) (tallies []tally[W], empty []int32) {
	n := net.n()
	tallies = s.tallies[:n]
	sizes := s.sizes[:n]
	clear(tallies)
	clear(sizes)
	for u, c := range labels {
		tallies[c].weight += net.weights[u]
		sizes[c]++
	}
	empty = s.empty[:0]
	for c, size := range sizes {
		if size == 0 {
			empty = append(empty, int32(c))
		}
	}
	return tallies, empty
}
