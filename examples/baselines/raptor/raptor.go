// SPDX-License-Identifier: Apache-2.0

// Package raptor is RAPTOR (Sarthi and others, "RAPTOR: Recursive Abstractive Processing for Tree-Organized
// Retrieval", arXiv 2401.18059, ICLR 2024, and parthsarthi03/raptor): pieces of text are clustered, the
// clusters summarized, the summaries clustered again, and a question is answered from the nodes of this tree
// most similar to it, of any level.
//
// Leaves have at most 100 tokens and are cut between sentences; clusters are mixtures of Gaussians with the
// least BIC, and a leaf can be in several. The collapsed tree is read up to 2,000 tokens or Question.Tokens;
// Question.K does not limit it. Leaves are read as pieces of chunks, and a chunk ranks by its best leaf;
// summaries are derived texts.
//
// Where this differs from paper and code, and why:
//
//   - Vectors are reduced by principal components before they are clustered, not by UMAP, which has no seed
//     there (see package summary).
//   - Each document is a tree, and the tops of all trees are clustered together. The paper has one tree per
//     text.
//   - The title of a page precedes each of its leaves, as in all systems here.
//   - The kit compares nodes with the question, as in all systems: by the cosine of the embedder, or by BM25.
//     Without an embedder, LSA clusters.
//   - A sentence of more than 100 tokens is cut between tokens. The paper does not mention it, and the code
//     cuts it at commas.
//
// Indexing takes a call for each summary, which is about one for six leaves; a question takes the answer's.
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
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Name is the name of the system in reports.
const Name = "raptor"

// Info describes the system.
var Info = kit.InfoOf(kit.Info{
	Name: Name, Source: "Sarthi and others 2024", Paper: "arXiv 2401.18059",
	Costs: "1 per six leaves of 100 tokens", Calls: kit.Calls{Once: 18}, // summaries: one for about six leaves
}, Options{}, New)

// Options of the system. The zero value is the setting of the paper (sections 3 and 4.1) and
// of its code (parthsarthi03/raptor).
type Options struct {
	kit.Common
	// Leaf is the largest number of tokens of a leaf, Summary of a summary.
	Leaf    int `default:"100" min:"0" source:"the paper, section 3"`
	Summary int `default:"100" min:"0" source:"its program"`
	// Tokens is the budget of questions that have none of their own.
	Tokens int `default:"2000" min:"0" source:"the paper, section 3"`
	// Traverse goes down the tree and reads the best Layer nodes of each layer, not the best of all nodes.
	Traverse bool `source:"the paper, section 3"`
	Layer    int  `default:"5" min:"0" source:"its program"`
	// Stale is the share of the nodes of a level, 0 to 1, that may join or leave its clusters before the level
	// is clustered again, if a model writes summaries. With 0 every level that changed is clustered again.
	Stale float64 `min:"0" max:"1" source:"ours: its program indexes all documents again"`
	// Tree has the options of the tree. Its Embedder and Summarizer, when set, are used in place of the kit's.
	Tree summary.RaptorOptions `source:"its program"`
}

// Defaults returns the options with the splitter, which is fixed: chunks are cut between sentences.
func (o Options) Defaults() Options {
	o.Cut.Sentences = true
	return o
}

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	o = o.Defaults()
	return kit.New(kit.Frame{
		Name: Name, Common: o.Common, Kit: k, Needs: []string{"Embed", "Find"}, Problems: c.Err(),
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) },
	})
}

// searcher is the tree over a corpus.
type searcher struct {
	o      Options
	count  func(string) int
	corpus *kit.Corpus
	leaves []leaf
	tree   *summary.Tree
	texts  retrieve.Texts // texts of the nodes
}

// leaf is a piece of a chunk.
type leaf struct {
	chunk      int32
	start, end int // byte range in the chunk's text
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*searcher, error) {
	s := &searcher{o: o, count: k.Count, corpus: c}
	if err := s.cut(ctx); err != nil {
		return nil, err
	}
	var err error
	if o.Tree.Summarizer == nil {
		if o.Tree.Summarizer, err = k.Summarizer(o.Summary); err != nil {
			return nil, err
		}
	}
	if o.Tree.Embedder == nil {
		if o.Tree.Embedder, err = c.Embedder(ctx); err != nil {
			return nil, err
		}
	}
	o.Tree.CountTokens = k.Count
	kept := memo.Kept[previous](ctx)
	last := *kept
	grow := &growing{share: o.Stale, last: &last, next: &previous{map[string]place{}, map[clusterID]int{}, map[string]bool{}}}
	if o.Stale > 0 && k.IndexModel != nil { // new summaries without a model cost nothing
		o.Tree.Cluster = grow.cluster
	}
	if s.tree, err = summary.Raptor(ctx, s.documents(), o.Tree); err != nil {
		return nil, err
	}
	*kept = *grow.next
	s.texts, err = c.Find(ctx, text.NewList(len(s.tree.Nodes), func(i int) string { return s.tree.Nodes[i].Text }))
	return s, err
}

// cut cuts the chunks into leaves.
func (s *searcher) cut(ctx context.Context) error {
	splitter, err := chunk.Sentences(chunk.SentenceOptions{MaxTokens: s.o.Leaf})
	if err != nil {
		return err
	}
	spans := make([][]chunk.Span, len(s.corpus.Chunks))
	err = kit.Each(ctx, len(spans), func(ctx context.Context, i int) (err error) {
		spans[i], err = splitter.Split(ctx, s.corpus.Chunks[i].Text)
		return err
	})
	for i, of := range spans {
		for _, p := range of {
			if strings.TrimSpace(s.corpus.Chunks[i].Text[p.Start:p.End]) != "" {
				s.leaves = append(s.leaves, leaf{int32(i), p.Start, p.End})
			}
		}
	}
	return err
}

// documents returns the texts of the leaves of each document. The title of the page precedes each text, since
// most parts of a page do not name its subject.
func (s *searcher) documents() (docs [][]string) {
	last := ""
	for _, l := range s.leaves {
		c := &s.corpus.Chunks[l.chunk]
		if len(docs) == 0 || c.Doc != last {
			docs, last = append(docs, nil), c.Doc
		}
		docs[len(docs)-1] = append(docs[len(docs)-1], strings.TrimSpace(c.Title+"\n\n"+strings.TrimSpace(c.Text[l.start:l.end])))
	}
	return docs
}

// Retrieve chooses nodes of the tree. Leaves are read as pieces of chunks, and a chunk ranks by its best leaf.
// Summaries are derived texts.
func (s *searcher) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	likeness, err := s.texts.Scores(ctx, q.Text, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	scores := make([]float64, len(s.corpus.Chunks))
	for i, l := range s.leaves {
		scores[l.chunk] = max(scores[l.chunk], likeness[i])
	}
	found := graphrag.Found{Evidence: []graphrag.Hit{}}
	if found.Ranked, err = s.corpus.ByScore(ctx, scores, q.Want(), Name); err != nil || q.K <= 0 && q.Tokens <= 0 {
		return found, err
	}
	for _, n := range s.choose(likeness, cmp.Or(q.Tokens, s.o.Tokens)) {
		if int(n) < len(s.leaves) {
			found.Evidence = append(found.Evidence, s.hit(n, likeness[n]))
		} else {
			found.Derived = append(found.Derived, s.summary(n))
		}
	}
	return found, nil
}

// choose returns the nodes to read, in order. In the collapsed tree these are the best nodes up to the first
// that does not fit into the budget.
func (s *searcher) choose(likeness []float64, budget int) []int32 {
	if s.o.Traverse {
		return s.tree.Traverse(likeness, s.o.Layer)
	}
	var nodes []int32
	for n, score := range likeness {
		if score > 0 {
			nodes = append(nodes, int32(n))
		}
	}
	slices.SortFunc(nodes, func(a, b int32) int { return cmp.Or(cmp.Compare(likeness[b], likeness[a]), cmp.Compare(a, b)) })
	return tokens.Within(nodes, budget, func(n int32) int {
		if int(n) < len(s.leaves) {
			return s.count(s.hit(n, 0).Chunk.Titled())
		}
		return s.count(s.tree.Nodes[n].Text)
	})
}

// hit returns a leaf as a hit: the piece of its chunk.
func (s *searcher) hit(n int32, score float64) graphrag.Hit {
	l := s.leaves[n]
	c := s.corpus.Chunks[l.chunk]
	if len(c.Text) == c.End-c.Start { // the chunk is a span of its page
		c.Start, c.End = c.Start+l.start, c.Start+l.end
	}
	c.Text, c.Tokens = c.Text[l.start:l.end], 0
	return graphrag.Hit{Chunk: c, Score: score, Source: Name}
}

// summary returns a summary with its source documents.
func (s *searcher) summary(n int32) graphrag.Derived {
	leaves := s.tree.Sources(n)
	chunks := make([]int32, len(leaves))
	for i, l := range leaves {
		chunks[i] = s.leaves[l].chunk
	}
	return graphrag.Derived{Kind: "summary", Text: s.tree.Nodes[n].Text, Provenance: s.corpus.Provenance(chunks)}
}

// previous has the clusters that were found before a change.
type previous struct {
	of     map[string]place
	size   map[clusterID]int
	joined map[string]bool // texts that joined a cluster after it was found
}

// clusterID identifies a cluster of the texts in a list.
type clusterID struct {
	list   string // digest of the list
	number int
}

// place is about the longest list that contains a text: its length, and the text's clusters in it.
type place struct {
	texts  int
	groups []clusterID
}

// clusters are clusters of the texts in a list, by index, and the texts that joined a cluster later.
type clusters struct {
	Groups [][]int32
	Joined []int32
}

// growing keeps clusters from before a change if they differ little (Options.Stale).
type growing struct {
	share float64
	last  *previous // clusters before the change; read only

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

// add adds the clusters of a list of texts. The order in which lists are added does not matter.
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

// grown returns the clusters in which texts were before. A new text joins the cluster with the most similar
// mean. It returns false if more than a share of the texts joined or left since the clusters were found.
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

// mean returns the sum of some texts' vectors, each scaled to length 1, which has the cosines of the mean.
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
