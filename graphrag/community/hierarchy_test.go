// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

func hierarchy(t testing.TB, g *graph.Graph, maxSize int, seed uint64) community.Hierarchy {
	t.Helper()
	h := check.Of(community.HierarchicalLeiden(t.Context(), g, community.HierarchyOptions{MaxSize: maxSize, Options: community.Options{Seed: seed}})).OK(t)
	return h
}

// leaves returns the communities that were not split.
func leaves(h community.Hierarchy) (list []community.Community) {
	for _, c := range h.Communities {
		if len(c.Children) == 0 {
			list = append(list, c)
		}
	}
	return list
}

// leafSizes returns the sizes of the leaves, descending, and of the
// unsplittable ones.
func leafSizes(h community.Hierarchy) (sizes, unsplittable []int) {
	for _, c := range leaves(h) {
		sizes = append(sizes, len(c.Nodes))
		if c.Unsplittable {
			unsplittable = append(unsplittable, len(c.Nodes))
		}
	}
	slices.Sort(sizes)
	slices.Sort(unsplittable)
	slices.Reverse(sizes)
	slices.Reverse(unsplittable)
	return sizes, unsplittable
}

// The depths count rounds of Leiden, a last one that splits nothing included.
func TestHierarchyOfClassics(t *testing.T) {
	for _, c := range []struct {
		name         string
		graph        *graph.Graph
		rounds       int
		sizes        []int
		unsplittable string
	}{
		{"karate", graphtest.Karate().Graph(), 2, []int{8, 6, 6, 5, 5, 2, 2}, "[]"},
		{"lesmis", lesMis(t, true), 3, []int{11, 10, 9, 8, 7, 6, 6, 6, 5, 4, 3, 2}, "[11 10]"},
	} {
		for seed := range uint64(3) {
			h := hierarchy(t, c.graph, 10, seed)
			sizes, unsplittable := leafSizes(h)
			rounds := h.Levels
			for _, c := range h.Communities {
				if c.Unsplittable && int(c.Level) == h.Levels-1 {
					rounds = h.Levels + 1
				}
			}
			if rounds != c.rounds || !slices.Equal(sizes, c.sizes) || fmt.Sprint(unsplittable) != c.unsplittable {
				t.Errorf("%s, seed %d: %d rounds, leaves %v, unsplittable %v; want %d, %v, %s",
					c.name, seed, rounds, sizes, unsplittable, c.rounds, c.sizes, c.unsplittable)
			}
		}
	}
}

// Children are a partition of their parent, leaves one of the graph; levels and
// numbers are as documented.
func TestHierarchyIsAForest(t *testing.T) {
	for i, g := range append(randomGraphs(t, 30), graphtest.LFR300().Graph()) {
		h := check.Of(community.HierarchicalLeiden(t.Context(), g, community.HierarchyOptions{MaxSize: 5})).OK(t)
		leaf := make([]int, g.N())
		level, parent := int32(0), int32(-1)
		for id, c := range h.Communities {
			check.True(t, c.Level >= level && c.Parent >= parent,
				"graph %d: community %d is out of order", i, id)
			level, parent = c.Level, c.Parent
			check.True(t, c.Parent < 0 || h.Communities[c.Parent].Level == c.Level-1,
				"graph %d: community %d skips a level", i, id)
			var parts []int32
			for _, child := range c.Children {
				check.True(t, h.Communities[child].Parent == int32(id),
					"graph %d: %d has a child %d of another parent", i, id, child)
				parts = append(parts, h.Communities[child].Nodes...)
			}
			slices.Sort(parts)
			switch {
			case len(c.Children) > 0 && !slices.Equal(parts, c.Nodes):
				t.Errorf("graph %d: the children of %d have nodes %v, want %v", i, id, parts, c.Nodes)
			case len(c.Children) == 0:
				for _, u := range c.Nodes {
					leaf[u]++
				}
				check.Equal(t, c.Unsplittable, (len(c.Nodes) >= 5),
					"graph %d: leaf %d of %d nodes, unsplittable", i, id, len(c.Nodes))
			}
		}
		for u, n := range leaf {
			check.Equal(t, n, 1, "graph %d: node %d is in", i, u)
		}
		top, bottom := h.Cut(0), h.Cut(h.Levels-1)
		for u := range top {
			check.True(t, h.Communities[top[u]].Level == 0 && len(h.Communities[bottom[u]].Children) == 0,
				"graph %d: cuts of node %d are %d and %d", i, u, top[u], bottom[u])
		}
	}
}

// The communities of a component are those of the component alone.
func TestComponentsAlone(t *testing.T) {
	var edges []graph.Edge
	nodes := int32(0)
	var want []string
	for _, g := range []*graph.Graph{graphtest.Karate().Graph(), lesMis(t, true), graphtest.LFR300().Graph()} {
		for u := range int32(g.N()) {
			lo, _ := g.Row(u)
			for i, v := range g.Neighbors(u) {
				if u <= v {
					edges = append(edges, graph.Edge{From: nodes + u, To: nodes + v, Weight: g.Weight(lo + int64(i))})
				}
			}
		}
		for _, c := range hierarchy(t, g, 10, 1).Communities {
			for i := range c.Nodes {
				c.Nodes[i] += nodes
			}
			want = append(want, fmt.Sprint(c.Level, c.Nodes))
		}
		nodes += int32(g.N())
	}
	g := check.Of(graph.New(int(nodes), edges, graph.Options{})).OK(t)
	var got []string
	for _, c := range hierarchy(t, g, 10, 1).Communities {
		got = append(got, fmt.Sprint(c.Level, c.Nodes))
	}
	slices.Sort(want)
	slices.Sort(got)
	check.Equal(t, got, want, "%d communities %v, want %d: %v", len(got), got, len(want), want)
}

// From the communities that were found Leiden finds these again, at every level.
func TestHierarchyStart(t *testing.T) {
	for name, g := range map[string]*graph.Graph{"lesmis": lesMis(t, true), "LFR": graphtest.LFR300().Graph()} {
		want := hierarchy(t, g, 10, 3)
		start := make([][]int32, want.Levels)
		for level := range start {
			start[level] = want.Cut(level)
			for u, c := range start[level] {
				if want.Communities[c].Level != int32(level) || len(want.Communities[c].Nodes) == 1 {
					start[level][u] = -1
				}
			}
		}
		o := community.HierarchyOptions{Start: start, Options: community.Options{Seed: 99, MaxPasses: 1}}
		got, err := community.HierarchicalLeiden(t.Context(), g, o)
		diff := cmp.Diff(want, got, cmpopts.EquateEmpty())
		check.True(t, diff == "" && err == nil, "%s: %v (-want +got):\n%s", name, err, diff)
		o.Start = append(o.Start, nil)
		_, err = community.HierarchicalLeiden(t.Context(), g, o)
		check.Fails(t, err, "Start[", "%s: a level without nodes", name)
	}
}
