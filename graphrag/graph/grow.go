// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"math"
)

// growth is the state of the first phase. At first each node is a cluster. Active clusters grow moats around
// themselves, all at the same speed. An edge that the moats of its two ends fill joins their clusters. A
// cluster stops when its moats have used up the prizes of its nodes, or when it contains all prizes that it can
// reach: anything that it found later would be pruned.
//
// Edge e has two parts, 2e at its end From and 2e+1 at its end To. A part is in the heap of its end's cluster,
// with the time at which the edge must be checked next: what is not filled of the edge is divided between its
// two parts. When the time of a part is reached, either the edge is full, or the rest is divided again. The
// clock of a cluster stops while it is inactive.
type growth struct {
	edges    []Edge
	clusters []cluster
	heap     heap    // edge parts, one heap per cluster
	queue    heap    // active clusters by the time of their next event
	due      int32   // first entry of queue
	prized   []int32 // by connected component: number of nodes with prizes
	forest   []Edge  // edges that joined clusters
}

// cluster is a set of nodes. The first clusters are single nodes; each later one joins two others.
type cluster struct {
	parent   int32   // the cluster that contains this one, or none
	parts    int32   // heap of its edge parts
	active   bool    // its moat grows
	start    float64 // time at which its moat began to grow
	end      float64 // time at which its moat stopped, unless active
	deadline float64 // time at which its prizes are used up
	prized   int32   // number of nodes with prizes
	within   int32   // connected component that contains it
	moats    float64 // sum of the moats of this cluster and its ancestors below parent
}

// precision is the relative tolerance within which an edge counts as full: far above rounding errors, far below
// relevant differences.
const precision = 1e-12

// grow runs the growth until all clusters have stopped.
func grow(ctx context.Context, g *Graph, prizes []float64) (*growth, error) {
	s, err := newGrowth(ctx, g, prizes)
	if err != nil {
		return nil, err
	}
	for events := 0; ; events++ {
		if events%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		now, c, ok := s.queue.top(&s.due)
		if !ok {
			return s, ctx.Err()
		}
		if s.parts(c) > now { // the cluster's prizes are used up
			s.clusters[c].active, s.clusters[c].end = false, now
			s.queue.remove(c)
			continue
		}
		s.meet(now, c)
	}
}

func newGrowth(ctx context.Context, g *Graph, prizes []float64) (*growth, error) {
	edges, err := edgesOf(ctx, g)
	if err != nil {
		return nil, err
	}
	within, components, err := g.Components(ctx)
	if err != nil {
		return nil, err
	}
	n := len(prizes)
	s := &growth{edges: edges, clusters: make([]cluster, n, 2*n), heap: newHeap(2 * len(edges)), queue: newHeap(2 * n), due: none, prized: make([]int32, components)}
	for u, prize := range prizes {
		s.clusters[u] = cluster{parent: none, parts: none, within: within[u], deadline: prize}
		if prize > 0 {
			s.clusters[u].prized = 1
			s.prized[within[u]]++
		}
	}
	for u := range s.clusters {
		k := &s.clusters[u]
		k.active = k.prized > 0 && s.wants(k)
	}
	for e, edge := range edges {
		if e%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.share(0, int32(2*e), edge.From, edge.To, edge.Weight)
	}
	for u := range int32(n) {
		s.enqueue(u)
	}
	return s, nil
}

// share divides the unfilled rest of an edge between one part, in cluster c, and the other part, in cluster d:
// in halves if both clusters or neither of them are active, else all to the active one.
func (s *growth) share(now float64, part, c, d int32, left float64) {
	ours, theirs := left/2, left/2
	switch a, b := s.clusters[c].active, s.clusters[d].active; {
	case a && !b:
		ours, theirs = left, 0
	case b && !a:
		ours, theirs = 0, left
	}
	s.clusters[c].parts = s.heap.insert(s.clusters[c].parts, part, s.clock(now, c)+ours)
	s.clusters[d].parts = s.heap.insert(s.clusters[d].parts, part^1, s.clock(now, d)+theirs)
}

// clock returns the time of a cluster, which stops while the cluster is inactive.
func (s *growth) clock(now float64, c int32) float64 {
	if s.clusters[c].active {
		return now
	}
	return s.clusters[c].end
}

// parts returns the time of a cluster's first edge part.
func (s *growth) parts(c int32) float64 { return s.heap.min(s.clusters[c].parts) }

// enqueue inserts an active cluster into the queue, or updates its place.
func (s *growth) enqueue(c int32) {
	if s.clusters[c].active {
		s.due = s.queue.insert(s.due, c, min(s.parts(c), s.clusters[c].deadline))
	}
}

// wants reports whether a cluster lacks any prize of its connected component.
func (s *growth) wants(c *cluster) bool { return c.prized < s.prized[c.within] }

// meet checks the edge of the first part of cluster c.
func (s *growth) meet(now float64, c int32) {
	part, fresh := s.heap.pop(&s.clusters[c].parts)
	if fresh {
		edge := s.edges[part/2]
		ours, theirs := edge.From, edge.To
		if part&1 == 1 {
			ours, theirs = theirs, ours
		}
		_, filled := s.find(now, ours)
		d, more := s.find(now, theirs)
		left := edge.Weight - filled - more
		switch {
		case c == d:
		case left <= precision*(now+edge.Weight), left/2 == 0: // the edge is full, or its rest is too short to divide
			s.forest = append(s.forest, edge)
			s.join(now, c, d)
			return
		default:
			s.share(now, part, c, d, left)
			s.enqueue(d)
		}
	}
	s.enqueue(c)
}

// find returns the cluster of a node and the sum of the moats around the node.
func (s *growth) find(now float64, node int32) (int32, float64) {
	top, sum := node, 0.0
	for s.clusters[top].parent != none {
		sum += s.clusters[top].moats
		top = s.clusters[top].parent
	}
	rest := sum
	for c := node; c != top; {
		next, own := s.clusters[c].parent, s.clusters[c].moats
		s.clusters[c].parent, s.clusters[c].moats = top, rest
		rest -= own
		c = next
	}
	return top, sum + s.clock(now, top) - s.clusters[top].start
}

// join joins two clusters, of which c is active. The new cluster is active with the rest of both prizes, unless
// it contains all prizes of its component.
func (s *growth) join(now float64, c, d int32) {
	n := int32(len(s.clusters))
	left := 0.0
	for _, old := range []int32{c, d} {
		k := &s.clusters[old]
		if k.active {
			left += k.deadline - now
			k.end = now
			s.queue.remove(old)
		} else {
			s.heap.delay(k.parts, now-k.end)
		}
		k.moats = k.end - k.start
		k.parent = n
	}
	made := cluster{
		parent: none, parts: s.heap.meld(s.clusters[c].parts, s.clusters[d].parts),
		start: now, end: now, deadline: now + left,
		prized: s.clusters[c].prized + s.clusters[d].prized, within: s.clusters[c].within,
	}
	made.active = s.wants(&made)
	s.clusters = append(s.clusters, made)
	s.enqueue(n)
}

// none is the end of a list of indexes, or an empty heap.
const none = -1

// heap is a set of pairing heaps by time (Fredman and others 1986), of edge parts or of clusters. Heaps can be
// melded, and all times of a heap delayed. A heap is identified by its first entry. Inserting a part again
// makes its older entry stale.
type heap struct {
	entries []entry
	free    int32   // list of unused entries, linked by next
	current []int32 // current entry of each part, or none
	pairs   []int32 // buffer of pop
}

type entry struct {
	time        float64
	delay       float64 // to add to the times of all entries below
	part        int32
	child, next int32
}

func newHeap(parts int) heap {
	h := heap{entries: make([]entry, 0, parts), free: none, current: make([]int32, parts)}
	for p := range h.current {
		h.current[p] = none
	}
	return h
}

// min returns the time of the first entry of a heap, +Inf if it is empty.
func (h *heap) min(first int32) float64 {
	if first == none {
		return math.Inf(1)
	}
	return h.entries[first].time
}

// insert puts a part into a heap and returns the heap.
func (h *heap) insert(first, part int32, time float64) int32 {
	e := h.free
	if e == none {
		e = int32(len(h.entries))
		h.entries = append(h.entries, entry{})
	} else {
		h.free = h.entries[e].next
	}
	h.entries[e] = entry{time: time, part: part, child: none, next: none}
	h.current[part] = e
	return h.meld(first, e)
}

// meld melds two heaps. Of equal times the lower part comes first.
func (h *heap) meld(a, b int32) int32 {
	if a == none {
		return b
	}
	if b == none {
		return a
	}
	x, y := &h.entries[a], &h.entries[b]
	if y.time < x.time || y.time == x.time && y.part < x.part {
		a, b, x, y = b, a, y, x
	}
	y.time -= x.delay
	y.delay -= x.delay
	y.next, x.child = x.child, b
	return a
}

// delay delays all entries of a heap by the same time.
func (h *heap) delay(first int32, by float64) {
	if first != none {
		h.entries[first].time += by
		h.entries[first].delay += by
	}
}

// pop removes the first entry of a heap, and returns its part and whether the entry was current.
func (h *heap) pop(first *int32) (part int32, fresh bool) {
	top := *first
	e := h.entries[top]
	// Meld the children in pairs, and the pairs from the last to the first.
	h.pairs = h.pairs[:0]
	for c := e.child; c != none; {
		next := h.detach(c, e.delay)
		if next == none {
			h.pairs = append(h.pairs, c)
			break
		}
		after := h.detach(next, e.delay)
		h.pairs = append(h.pairs, h.meld(c, next))
		c = after
	}
	rest := int32(none)
	for i := len(h.pairs) - 1; i >= 0; i-- {
		rest = h.meld(rest, h.pairs[i])
	}
	*first = rest
	if fresh = h.current[e.part] == top; fresh {
		h.current[e.part] = none
	}
	h.entries[top].next, h.free = h.free, top
	return e.part, fresh
}

// top returns the time and the part of the first current entry, and removes stale entries before it. ok is
// false if there is none.
func (h *heap) top(first *int32) (time float64, part int32, ok bool) {
	for *first != none {
		if e := h.entries[*first]; h.current[e.part] == *first {
			return e.time, e.part, true
		}
		h.pop(first)
	}
	return 0, 0, false
}

// remove makes the entry of a part stale.
func (h *heap) remove(part int32) { h.current[part] = none }

// detach makes a child a heap of its own and returns its next sibling.
func (h *heap) detach(c int32, delay float64) int32 {
	next := h.entries[c].next
	h.entries[c].next = none
	h.delay(c, delay)
	return next
}
