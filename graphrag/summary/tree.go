// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/cluster"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// Node is a leaf, or a summary of other nodes.
type Node struct {
	// Level is 0 for leaves. For a summary it is the number of the round in which it was made, which is above
	// the levels of all its children.
	Level int
	Text  string
	// Children are the summarized nodes, in the order in which they were read; none for a leaf.
	Children []int32
	// Quotes say where the text of an extractive summary comes from; Source is an index in Children.
	Quotes []Quote
}

// Tree has texts as leaves and summaries above them. In a tree made by [Raptor] a node can have several
// parents. A tree with few leaves may have no summaries, and one without leaves has no nodes.
type Tree struct {
	// Nodes are in the order of their levels: first the leaves, document by document.
	Nodes []Node
	// Levels has the index in Nodes at which each level begins.
	Levels []int32
}

// Level returns the nodes of a level: first to end-1.
func (t *Tree) Level(level int) (first, end int32) {
	end = int32(len(t.Nodes))
	if level+1 < len(t.Levels) {
		end = t.Levels[level+1]
	}
	return t.Levels[level], end
}

// Sources returns the leaves on which the text of a node is based, in ascending order: those it quotes, or, if
// the text has no quotes, all leaves below it. The source of a leaf is the leaf.
func (t *Tree) Sources(node int32) []int32 {
	var leaves []int32
	whole := make(map[int32]bool) // nodes all of whose leaves were added
	var visit func(n int32, start, end int)
	visit = func(n int32, start, end int) {
		of := &t.Nodes[n]
		if start == 0 && end == len(of.Text) {
			if whole[n] {
				return
			}
			whole[n] = true
		}
		switch {
		case of.Level == 0:
			leaves = append(leaves, n)
		case len(of.Quotes) == 0:
			for _, c := range of.Children {
				visit(c, 0, len(t.Nodes[c].Text))
			}
		}
		for _, q := range of.Quotes {
			if q.Start < end && start < q.End {
				visit(of.Children[q.Source], q.SourceStart, q.SourceEnd)
			}
		}
	}
	visit(node, 0, len(t.Nodes[node].Text))
	slices.Sort(leaves)
	return slices.Compact(leaves)
}

// roots returns the nodes without a parent in ascending order.
func (t *Tree) roots() []int32 {
	child := make([]bool, len(t.Nodes))
	for _, n := range t.Nodes {
		for _, c := range n.Children {
			child[c] = true
		}
	}
	var roots []int32
	for n, below := range child {
		if !below {
			roots = append(roots, int32(n))
		}
	}
	return roots
}

// Traverse returns the nodes that RAPTOR's traversal reads, given the similarity of each node to the question:
// the k best roots, the k best of their children, and so on down to the leaves, in this order and each once.
// Nodes with a similarity of 0 or less are left out.
func (t *Tree) Traverse(similarity []float64, k int) []int32 {
	var chosen []int32
	taken := make(map[int32]bool)
	for layer := t.roots(); len(layer) > 0 && k > 0; {
		var scored []rank.Scored[int32]
		for _, n := range layer {
			if similarity[n] > 0 {
				scored = append(scored, rank.Scored[int32]{ID: n, Score: similarity[n]})
			}
		}
		layer = nil
		for _, n := range rank.Best(scored, k) {
			if !taken[n.ID] {
				taken[n.ID] = true
				chosen = append(chosen, n.ID)
			}
			layer = append(layer, t.Nodes[n.ID].Children...)
		}
		slices.Sort(layer)
		layer = slices.Compact(layer)
	}
	return chosen
}

// newTree returns a tree that consists of leaves, and the leaves of each document.
func newTree(docs [][]string) (t *Tree, tops [][]int32) {
	t = &Tree{}
	for _, leaves := range docs {
		var top []int32
		for _, text := range leaves {
			top = append(top, int32(len(t.Nodes)))
			t.Nodes = append(t.Nodes, Node{Text: text})
		}
		tops = append(tops, top)
	}
	if len(t.Nodes) > 0 {
		t.Levels = []int32{0}
	}
	return t, tops
}

// concurrency is the default number of concurrent summaries: a model answers over a network.
const concurrency = 8

// grow adds a level of summaries, one for each group of nodes, and replaces the nodes of each document by its
// summaries; a document without groups keeps its nodes. If the summary of a group is empty, it gets the text of
// the first node.
func (t *Tree) grow(ctx context.Context, s Summarizer, tops [][]int32, groups [][][]int32, workers int) error {
	level, all := len(t.Levels), slices.Concat(groups...)
	summaries := make([]Summary, len(all))
	err := share.Each(ctx, len(all), workers, func(ctx context.Context, i int) (err error) {
		texts := make([]string, len(all[i]))
		for j, n := range all[i] {
			texts[j] = t.Nodes[n].Text
		}
		if summaries[i], err = s.Summarize(ctx, texts); err != nil {
			return fmt.Errorf("group %d of %d: %w", i+1, len(all), err)
		}
		if strings.TrimSpace(summaries[i].Text) == "" {
			summaries[i] = Summary{Text: texts[0]}
		}
		return nil
	})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return fmt.Errorf("summary: level %d: %w", level, err)
	}
	t.Levels = append(t.Levels, int32(len(t.Nodes)))
	for d, of := range groups {
		if len(of) > 0 {
			tops[d] = nil
		}
		for _, group := range of {
			one := summaries[0]
			summaries = summaries[1:]
			tops[d] = append(tops[d], int32(len(t.Nodes)))
			t.Nodes = append(t.Nodes, Node{Level: level, Text: one.Text, Children: group, Quotes: one.Quotes})
		}
	}
	return nil
}

// SequentialOptions are the options of [Sequential].
type SequentialOptions struct {
	// Summarizer is required.
	Summarizer Summarizer
	// Group is the number of neighbours that are summarized together, at least 2; 0 means 5
	// (YiboZhao624/E-2GraphRAG, merge_num).
	Group int
}

// Sequential builds the tree of E²GraphRAG over the leaves of documents: in each document, every Group of
// neighbours is summarized, then every Group of these summaries, until a level has at most 1.2 times Group
// nodes. Each summary is made from the texts below it; the published code condenses node numbers from the
// second level on. A document with one leaf has no summary, which would repeat the leaf.
func Sequential(ctx context.Context, docs [][]string, o SequentialOptions) (*Tree, error) {
	o.Group = cmp.Or(o.Group, 5)
	checks := opt.Checks{Of: "summary"}
	checks.Want(o.Summarizer != nil, "Summarizer", "missing", "a summarizer")
	opt.Min(&checks, "Group", o.Group, 2)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	t, tops := newTree(docs)
	for {
		groups, more := make([][][]int32, len(tops)), false
		for d, top := range tops {
			first := len(t.Levels) == 1 && len(top) > 1
			if first || 5*len(top) > 6*o.Group { // more than 1.2 times Group, without rounding
				groups[d], more = slices.Collect(slices.Chunk(top, o.Group)), true
			}
		}
		if !more {
			return t, ctx.Err()
		}
		if err := t.grow(ctx, o.Summarizer, tops, groups, concurrency); err != nil {
			return nil, err
		}
	}
}

// defaultRegularization is relative to the variance of the first principal component. It is chosen for the
// number of children: on web pages with leaves of 100 tokens a summary has 7.0 children with it, but 4.4 with
// the 1e-6 that RAPTOR uses after UMAP; over the paper's data sets it has 6.7.
const defaultRegularization = 1e-4

// RaptorOptions are the options of [Raptor]. The defaults are the values of RAPTOR (parthsarthi03/raptor,
// cluster_utils.py and cluster_tree_builder.py).
type RaptorOptions struct {
	// Summarizer and Embedder are required.
	Summarizer Summarizer
	Embedder   embed.Embedder
	// Dim is the largest number of components of a reduced vector; up to Dim+1 nodes are not clustered; 0 means
	// 10.
	Dim int `default:"10" min:"0"`
	// Threshold is the probability above which a node belongs to a cluster; 0 means cluster.DefaultMembership.
	Threshold float64 `min:"0" max:"1"`
	// MaxLevels limits the levels of summaries; 0 means 5.
	MaxLevels int `default:"5" min:"0"`
	// ClusterTokens limits the tokens of the texts of one cluster; 0 means 3,500.
	ClusterTokens int `default:"3500" min:"0"`
	// CountTokens counts the tokens of a text (see tokens.Counter); nil counts tokens of cl100k.
	CountTokens func(string) int
	// Regularization is the least variance of a cluster in any direction (cluster.MixtureOptions); 0 means
	// 1e-4.
	Regularization float64 `min:"0" source:"ours: its program has 1e-6"`
	// Seed is the seed of the mixtures; 0 means 224.
	Seed uint64 `default:"224"`
	// Cluster, if set, returns the clusters of nodes of a tree, given the vectors of all its nodes so far; fit
	// returns the clusters of the mixtures. A node can be in several clusters. Clusters of more than
	// ClusterTokens are divided afterwards. Cluster is called concurrently.
	Cluster func(ctx context.Context, t *Tree, nodes []int32, vectors [][]float32, fit func() ([][]int32, error)) ([][]int32, error)
	// Concurrency is the number of concurrent summaries; 0 means 8. It does not change the tree.
	Concurrency int `default:"8" min:"0" source:"ours"`
}

func (o RaptorOptions) resolve() (RaptorOptions, error) {
	checks := opt.Checks{Of: "summary"}
	checks.Want(o.Summarizer != nil, "Summarizer", "missing", "a summarizer")
	checks.Want(o.Embedder != nil, "Embedder", "missing", "an embedder")
	checks.Fill(&o)
	if o.CountTokens == nil {
		o.CountTokens = tokens.Cl100k().Count
	}
	return o.Defaults(), checks.Err()
}

// Defaults returns the options with the default Threshold and Regularization in place of zero values.
func (o RaptorOptions) Defaults() RaptorOptions {
	o.Threshold = cmp.Or(o.Threshold, cluster.DefaultMembership)
	o.Regularization = cmp.Or(o.Regularization, defaultRegularization)
	return o
}

// Raptor builds the tree of RAPTOR over the leaves of documents. The nodes of a level are clustered, and then
// the nodes of each cluster with more than Dim+1; every cluster is summarized by a node of the level above. The
// number of clusters is chosen by the least BIC; a node can be in several. Building ends at MaxLevels, at a
// level of at most Dim+1 nodes, or when clustering no longer gives fewer nodes.
//
// The paper has one tree for one text. Here each document is clustered by itself, and then the top nodes of all
// documents in the same way, in as many levels again. So a change of one document changes only its own tree and
// the levels above all trees, and no mixture is fitted to more nodes than a document or the tops have.
//
// A cluster whose texts are too long is clustered again, into parts without common nodes; if that gives no
// smaller ones, k-means divides it into as many parts as its texts need. No summary is made of more text than
// ClusterTokens, unless a single node has more.
//
// In the paper, leaves are texts of about 100 tokens, cut between sentences.
func Raptor(ctx context.Context, docs [][]string, o RaptorOptions) (*Tree, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	t, tops := newTree(docs)
	r := &raptor{RaptorOptions: o, tree: t}
	if err := r.embed(ctx); err != nil {
		return nil, err
	}
	if err := r.levels(ctx, tops); err != nil {
		return nil, err
	}
	if len(docs) > 1 {
		all := slices.Concat(tops...)
		slices.Sort(all)
		err = r.levels(ctx, [][]int32{all})
	}
	return t, cmp.Or(err, ctx.Err())
}

// raptor is the state of building a tree.
type raptor struct {
	RaptorOptions
	tree *Tree
	// vectors and tokens have an entry for each node so far.
	vectors [][]float32
	tokens  []int
}

// levels adds levels of summaries over groups of nodes, each group by itself, until no group can be clustered.
func (r *raptor) levels(ctx context.Context, tops [][]int32) error {
	ended := make([]bool, len(tops))
	for range r.MaxLevels {
		groups := make([][][]int32, len(tops))
		err := par.Each(ctx, len(tops), 0, func(d int) (err error) {
			if ended[d] = ended[d] || len(tops[d]) <= r.Dim+1; ended[d] {
				return nil
			}
			groups[d], err = r.groups(ctx, tops[d])
			if ended[d] = len(groups[d]) >= len(tops[d]); ended[d] {
				groups[d] = nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("summary: level %d: clusters: %w", len(r.tree.Levels), err)
		}
		if !slices.ContainsFunc(groups, func(of [][]int32) bool { return len(of) > 0 }) {
			return nil
		}
		if err := r.tree.grow(ctx, r.Summarizer, tops, groups, r.Concurrency); err != nil {
			return err
		}
		if err := r.embed(ctx); err != nil {
			return err
		}
	}
	return nil
}

// embed computes the vectors and token counts of the nodes that have none.
func (r *raptor) embed(ctx context.Context) error {
	have := len(r.vectors)
	var texts []string
	for _, n := range r.tree.Nodes[have:] {
		texts = append(texts, n.Text)
		r.tokens = append(r.tokens, r.CountTokens(n.Text))
	}
	if len(texts) == 0 {
		return ctx.Err()
	}
	vectors, err := r.Embedder.EmbedDocuments(ctx, texts)
	if err != nil {
		return fmt.Errorf("summary: embed %d nodes: %w", len(texts), err)
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("summary: the embedder gave %d vectors for %d texts", len(vectors), len(texts))
	}
	r.vectors = append(r.vectors, vectors...)
	for i, v := range r.vectors[have:] {
		if len(v) != len(r.vectors[0]) || len(v) == 0 {
			return fmt.Errorf("summary: the embedder gave node %d a vector of %d numbers, the first one of %d", have+i, len(v), len(r.vectors[0]))
		}
		for _, c := range v {
			if c-c != 0 {
				return fmt.Errorf("summary: the embedder gave node %d a vector with %v", have+i, c)
			}
		}
	}
	return nil
}

// groups returns the clusters of nodes, each within ClusterTokens, sorted by their nodes, each once.
func (r *raptor) groups(ctx context.Context, nodes []int32) ([][]int32, error) {
	within := func(part []int32) ([][]int32, error) { return r.fit(ctx, part) }
	mixtures := func() ([][]int32, error) {
		parts, err := r.twice(ctx, nodes, r.Threshold)
		if err != nil {
			return nil, err
		}
		return spread(parts, within)
	}
	var groups [][]int32
	var err error
	if r.Cluster == nil {
		groups, err = mixtures()
	} else if groups, err = r.Cluster(ctx, r.tree, nodes, r.vectors, mixtures); err == nil {
		groups, err = spread(groups, within)
	}
	slices.SortFunc(groups, slices.Compare)
	return slices.CompactFunc(groups, slices.Equal), err
}

// spread calls do for each part, and joins the results.
func spread(parts [][]int32, do func(part []int32) ([][]int32, error)) ([][]int32, error) {
	var out [][]int32
	for _, part := range parts {
		more, err := do(part)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// fit divides a cluster until each part is within ClusterTokens.
func (r *raptor) fit(ctx context.Context, nodes []int32) ([][]int32, error) {
	tokens := 0
	for _, n := range nodes {
		tokens += r.tokens[n]
	}
	if tokens <= r.ClusterTokens || len(nodes) < 2 {
		return [][]int32{nodes}, nil
	}
	parts, err := r.twice(ctx, nodes, 1) // no probability exceeds the threshold 1, so parts share no nodes
	if err == nil && len(parts) < 2 {
		parts, err = r.divide(ctx, nodes, (tokens+r.ClusterTokens-1)/r.ClusterTokens)
	}
	if err != nil {
		return nil, err
	}
	return spread(parts, func(part []int32) ([][]int32, error) { return r.fit(ctx, part) })
}

// twice clusters nodes, and then the nodes of each cluster.
func (r *raptor) twice(ctx context.Context, nodes []int32, threshold float64) ([][]int32, error) {
	global, err := r.once(ctx, nodes, threshold)
	if err != nil || len(global) == 1 { // clustering the only cluster again gives the same
		return global, err
	}
	return spread(global, func(g []int32) ([][]int32, error) { return r.once(ctx, g, threshold) })
}

// once clusters nodes by a mixture of Gaussians; up to Dim+1 nodes are one cluster.
func (r *raptor) once(ctx context.Context, nodes []int32, threshold float64) ([][]int32, error) {
	if len(nodes) <= r.Dim+1 {
		return [][]int32{nodes}, nil
	}
	vectors, length, err := r.reduced(ctx, nodes)
	if err != nil {
		return nil, err
	}
	m, err := cluster.SelectMixture(ctx, vectors, length, cluster.MixtureOptions{Seed: r.Seed, Regularization: r.Regularization})
	if err != nil {
		return nil, err
	}
	p, err := m.Probabilities(ctx, vectors)
	if err != nil {
		return nil, err
	}
	parts := make([][]int32, m.K)
	for i, clusters := range m.Memberships(p, threshold) {
		for _, c := range clusters {
			parts[c] = append(parts[c], nodes[i])
		}
	}
	return slices.DeleteFunc(parts, func(part []int32) bool { return len(part) == 0 }), nil
}

// divide divides nodes into at most k parts, but at least two.
func (r *raptor) divide(ctx context.Context, nodes []int32, k int) ([][]int32, error) {
	vectors, length, err := r.reduced(ctx, nodes)
	if err != nil {
		return nil, err
	}
	c, err := cluster.KMeans(ctx, vectors, length, k, cluster.KMeansOptions{Seed: r.Seed})
	if err != nil {
		return nil, err
	}
	parts := make([][]int32, c.K)
	for i, label := range c.Labels {
		parts[label] = append(parts[label], nodes[i])
	}
	parts = slices.DeleteFunc(parts, func(part []int32) bool { return len(part) == 0 })
	if len(parts) < 2 { // all vectors are equal
		half := (len(nodes) + 1) / 2
		parts = [][]int32{nodes[:half:half], nodes[half:]}
	}
	return parts, nil
}

// reduced returns vectors of nodes with fewer components, and their number. Vectors are scaled to length 1
// first, so that distances correspond to cosines.
func (r *raptor) reduced(ctx context.Context, nodes []int32) ([]float32, int, error) {
	dim := len(r.vectors[0])
	vectors := make([]float32, 0, len(nodes)*dim)
	for _, n := range nodes {
		vectors = appendUnit(vectors, r.vectors[n])
	}
	to := max(1, min(r.Dim, len(nodes)-2))
	return principal(ctx, vectors, dim, to)
}

// appendUnit appends a vector scaled to length 1; a vector of zeros is not changed.
func appendUnit(dst, v []float32) []float32 {
	sum := 0.0
	for _, c := range v {
		sum += float64(c) * float64(c)
	}
	scale := 0.0
	if sum > 0 {
		scale = 1 / math.Sqrt(sum)
	}
	for _, c := range v {
		dst = append(dst, float32(float64(c)*scale))
	}
	return dst
}

const (
	powerRounds = 2
	smallest    = 1e-6 // least standard deviation of a component, relative to the first
)

// principal projects vectors onto at most to of their principal components, so that there are enough vectors
// for each dimension of a mixture of Gaussians. It leaves out components without variance, and scales all by
// one factor, so that the first has variance 1. It returns the rows, and their length.
func principal(ctx context.Context, vectors []float32, dim, to int) (reduced []float32, length int, err error) {
	n := len(vectors) / dim
	values, u, _, err := matrix.Truncated(ctx, centered(vectors, dim), to, powerRounds, 1)
	if err != nil {
		return nil, 0, err
	}
	for length < len(values) && values[length] > smallest*values[0] {
		length++
	}
	if length == 0 {
		return make([]float32, n), 1, nil // all vectors are equal
	}
	reduced = make([]float32, n*length)
	for i := range reduced {
		row, j := i/length, i%length
		reduced[i] = float32(u[row*len(values)+j] * values[j] / values[0] * math.Sqrt(float64(n)))
	}
	return reduced, length, nil
}

// centered returns the vectors minus their mean.
func centered(vectors []float32, dim int) matrix.Dense {
	mean, data := make([]float64, dim), make([]float64, len(vectors))
	for i := 0; i < len(vectors); i += dim {
		for j, c := range vectors[i : i+dim] {
			mean[j] += float64(c)
		}
	}
	for j := range mean {
		mean[j] /= float64(len(vectors) / dim)
	}
	for i := 0; i < len(vectors); i += dim {
		row, less := vectors[i:i+dim], data[i:i+dim]
		for j, m := range mean {
			less[j] = float64(row[j]) - m
		}
	}
	return matrix.Dense{Data: data, Cols: dim}
}
