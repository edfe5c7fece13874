// SPDX-License-Identifier: Apache-2.0

package steiner

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// growth is the state of the first phase. Each node begins as a cluster of its
// own. Active clusters grow a moat around themselves, all at the same speed; an
// edge that is filled by the moats of its two ends joins their clusters, and a
// cluster whose moats have used up the prizes of its nodes stops. So does one that holds
// all the prizes it can come to, if there is no root to come to: what it found later would
// only be pruned.
//
// Edge e has two parts, 2e at its end From and 2e+1 at its end To. A part lies in
// the heap of its end's cluster with a time by which the edge must be looked at:
// the moats of the two ends may together grow by what is left of the edge, so
// that much is shared out between its parts. When a part's time has come, either
// the edge is full, or the rest is shared out anew. The clock of a cluster
// stands still while it is inactive.
type growth struct {
	edges    []graph.Edge
	clusters []cluster
	heap     heap         // parts, one heap for each cluster
	queue    queue        // active clusters by their next event
	root     int32        // cluster of the root, or noRoot
	prized   []int32      // nodes with prizes in each connected component
	forest   []graph.Edge // edges that joined clusters
}

// cluster is a set of nodes: the first ones are single nodes, each later one is
// made of two others.
type cluster struct {
	parent   int32   // the cluster this one has gone into, or none
	parts    int32   // heap of edge parts
	active   bool    //
	start    float64 // when the moat began to grow
	end      float64 // when it stopped, unless it is still growing
	deadline float64 // when the prizes are used up, if it is
	prized   int32   // nodes with prizes
	within   int32   // the connected component it is in
	moats    float64 // sum of the moats from this one up to, without, the parent
}

// precision is the part of the time and cost within which an edge counts as
// full: far above the rounding of times, far below what matters.
const precision = 1e-12

// grow runs until all clusters have stopped.
func grow(ctx context.Context, g *graph.Graph, prizes []float64, root int32) (*growth, error) {
	s, err := newGrowth(ctx, g, prizes, root)
	if err != nil {
		return nil, err
	}
	for events := 0; s.queue.len() > 0; events++ {
		if events%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		now, c := s.queue.top()
		if s.parts(c) > now { // nothing but the deadline is due
			s.clusters[c].active, s.clusters[c].end = false, now
			s.queue.remove(c)
			continue
		}
		s.meet(now, c)
	}
	return s, ctx.Err()
}

// stride is the number of nodes, edges or events between two looks at the context.
const stride = 1 << 12

func newGrowth(ctx context.Context, g *graph.Graph, prizes []float64, root int32) (*growth, error) {
	edges, err := edgesOf(ctx, g)
	if err != nil {
		return nil, err
	}
	within, components, err := g.Components(ctx)
	if err != nil {
		return nil, err
	}
	n := len(prizes)
	s := &growth{edges: edges, clusters: make([]cluster, n, 2*n), heap: newHeap(2 * len(edges)), queue: newQueue(2 * n), root: root, prized: make([]int32, components)}
	for u, prize := range prizes {
		s.clusters[u] = cluster{parent: none, parts: none, within: within[u], deadline: prize}
		if prize > 0 {
			s.clusters[u].prized = 1
			s.prized[within[u]]++
		}
	}
	for u := range s.clusters {
		k := &s.clusters[u]
		k.active = k.prized > 0 && int32(u) != root && s.wants(k)
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

// share shares out what is left of an edge between a part, in cluster c, and the
// other part, in cluster d: in halves if both or none of them are active, else
// all of it to the active one.
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

// clock returns the time in a cluster.
func (s *growth) clock(now float64, c int32) float64 {
	if s.clusters[c].active {
		return now
	}
	return s.clusters[c].end
}

// parts returns when the first part of a cluster is due.
func (s *growth) parts(c int32) float64 { return s.heap.min(s.clusters[c].parts) }

// enqueue puts an active cluster into the queue, or to its new place in it.
func (s *growth) enqueue(c int32) {
	if s.clusters[c].active {
		s.queue.set(c, min(s.parts(c), s.clusters[c].deadline))
	}
}

// wants reports whether there is anything left for a cluster to find.
func (s *growth) wants(c *cluster) bool { return s.root != noRoot || c.prized < s.prized[c.within] }

// meet looks at the edge whose part is first in cluster c.
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
		case left <= precision*(now+edge.Weight), left/2 == 0: // full, or too small to halve
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

// find returns the cluster a node is in and the sum of the moats around the node.
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

// join makes one cluster of two, of which c is active. The new one is active
// with what is left of the prizes of both, unless it holds the root or all prizes.
func (s *growth) join(now float64, c, d int32) {
	rooted := d == s.root
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
	made.active = !rooted && s.wants(&made)
	s.clusters = append(s.clusters, made)
	if rooted {
		s.root = n
	}
	s.enqueue(n)
}
