// SPDX-License-Identifier: Apache-2.0

package raptor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// previous contains the clusters before a change.
type previous struct {
	of     map[string]place
	size   map[clusterID]int
	joined map[string]bool // texts that joined an existing cluster
}

// clusterID identifies a cluster of a list of texts.
type clusterID struct {
	list   string // a digest
	number int
}

// place describes the longest list that contains a text: its length, and the clusters of
// the text in it.
type place struct {
	texts  int
	groups []clusterID
}

// clusters holds clusters of a list of texts by index, and the texts that joined an existing cluster.
type clusters struct {
	Groups [][]int32
	Joined []int32
}

// growing finds clusters that differ little from those before a change (Options.Stale).
type growing struct {
	share float64
	last  *previous // is not changed

	mu   sync.Mutex
	next *previous
}

// cluster implements the option Cluster of [summary.RaptorOptions].
func (g *growing) cluster(ctx context.Context, t *summary.Tree, nodes []int32, vectors [][]float32, fit func() ([][]int32, error)) ([][]int32, error) {
	texts, index := make([]string, len(nodes)), make(map[int32]int32, len(nodes))
	for i, n := range nodes {
		texts[i], index[n] = t.Nodes[n].Text, int32(i)
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%q", texts))
	made, err := kit.Saved(ctx, "clusters", string(digest[:]), func() (clusters, error) {
		if c, ok := g.last.grown(texts, func(i int32) []float32 { return vectors[nodes[i]] }, g.share); ok {
			return c, nil
		}
		groups, err := fit()
		return clusters{Groups: mapped(groups, func(n int32) int32 { return index[n] })}, err
	})
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.next.add(texts, string(digest[:]), made)
	g.mu.Unlock()
	for range made.Joined {
		kit.Count(ctx, graphrag.IndexStats{Stages: []graphrag.Stage{{Name: "cluster", Asked: 1, Stale: 1}}})
	}
	return mapped(made.Groups, func(i int32) int32 { return nodes[i] }), nil
}

func mapped(groups [][]int32, number func(int32) int32) [][]int32 {
	out := make([][]int32, len(groups))
	for i, members := range groups {
		for _, n := range members {
			out[i] = append(out[i], number(n))
		}
	}
	return out
}

// add adds the clusters of a list of texts. The order in which lists are added has no influence.
func (p *previous) add(texts []string, list string, c clusters) {
	in := make([][]clusterID, len(texts))
	for number, of := range c.Groups {
		g := clusterID{list, number}
		p.size[g] = len(of)
		for _, i := range of {
			in[i] = append(in[i], g)
		}
	}
	joined := make([]bool, len(texts))
	for _, i := range c.Joined {
		joined[i] = true
	}
	for i, text := range texts {
		if old, ok := p.of[text]; len(in[i]) == 0 || ok && (old.texts > len(texts) || old.texts == len(texts) && old.groups[0].list >= list) {
			continue
		}
		p.of[text] = place{len(texts), in[i]}
		p.joined[text] = joined[i]
	}
}

// grown returns the clusters that texts were in before. New ones join the cluster of the most similar mean.
// It returns false if more than a share of the texts joined or left since the clusters were found.
func (p *previous) grown(texts []string, row func(int32) []float32, share float64) (clusters, bool) {
	members := make(map[clusterID][]int32)
	var joined, added []int32
	for i, text := range texts {
		groups := p.of[text].groups
		for _, g := range groups {
			members[g] = append(members[g], int32(i))
		}
		switch {
		case len(groups) == 0:
			added = append(added, int32(i))
		case p.joined[text]:
			joined = append(joined, int32(i))
		}
	}
	joined = append(joined, added...)
	changed := len(joined)
	order := slices.SortedFunc(maps.Keys(members), func(a, b clusterID) int {
		return cmp.Or(strings.Compare(a.list, b.list), a.number-b.number)
	})
	means := make([][]float32, len(order))
	for at, g := range order {
		changed += p.size[g] - len(members[g])
		means[at] = mean(members[g], row)
	}
	if len(order) == 0 || float64(changed) > share*float64(len(texts)) {
		return clusters{}, false
	}
	for _, i := range added {
		best := 0
		for at := range means {
			if vector.Cosine(row(i), means[at]) > vector.Cosine(row(i), means[best]) {
				best = at
			}
		}
		members[order[best]] = append(members[order[best]], i)
	}
	out := clusters{Joined: joined}
	for _, g := range order {
		slices.Sort(members[g])
		out.Groups = append(out.Groups, members[g])
	}
	return out, true
}

// mean returns the sum of the vectors of some texts, each scaled to length 1: cosines need no more.
func mean(of []int32, row func(int32) []float32) []float32 {
	sum := make([]float32, len(row(of[0])))
	for _, i := range of {
		squares := 0.0
		for _, x := range row(i) {
			squares += float64(x) * float64(x)
		}
		for j, x := range row(i) {
			sum[j] += x / float32(math.Sqrt(max(squares, math.SmallestNonzeroFloat32)))
		}
	}
	return sum
}
