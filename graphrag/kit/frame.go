// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

// Frame is the description of a [System].
type Frame struct {
	// Name identifies the system in reports and errors.
	Name string
	Common
	Kit Kit
	// Needs are the fields of the kit that Build uses, such as "Find"; all systems use Read and Count.
	Needs []string
	// Extract finds the entities and facts of chunks; without an extractor the system has no graph.
	Extract Extraction
	// Knowledge are the options of the knowledge graph.
	Knowledge kg.Options
	// Blind marks a system that reads no documents.
	Blind bool
	// Without a Build, Words ranks the chunks by BM25, and Vectors by the vectors of the kit's embedder, in
	// memory or in a store (see [Open]). A frame sets one of them, or both and Combine.
	Words   *bm25.Options
	Vectors bool
	// Combine makes a retriever of the retrievers by Words and by Vectors; one that the frame does not set is
	// nil. If the store itself is searched, c has no chunks, but its Embedder, Find and Finder can be used.
	// Combine is called for every change, and for every condition of a question.
	Combine func(c *Corpus, words, vectors graphrag.Retriever) (graphrag.Retriever, error)
	// Flat marks a system that uses only the chunks of the corpus. If its retriever is a [retrieve.Updater], a
	// change updates it, and if it is a [retrieve.Limiter], a condition limits it; otherwise both build a new
	// one.
	Flat bool
	// Problems are the errors in the recipe's own options (see [Checks]).
	Problems error
	// Build makes the retriever over a corpus. If the system is not Flat, it is called for every change.
	Build func(ctx context.Context, c *Corpus) (graphrag.Retriever, error)
}

// Common are the options that all systems share.
type Common struct {
	Cut Cut
	// MaxPerDoc limits the chunks of one document in a ranking; 0 is no limit.
	MaxPerDoc int `source:"ours: no limit"`
	// Progress, if set, is called during a change: with the numbers of documents and chunks after cutting, then
	// with the usage after each reply of a model, and with the stages. Calls do not overlap, and building waits
	// until each returns.
	Progress func(graphrag.IndexStats)
}

// Cut are the options of chunking. The zero value is the setting of WildGraphBench (section 4.1), but without
// the targets of links, which are a third of the raw pages.
type Cut struct {
	// Size and Overlap count cl100k tokens: 0 means 1,200 and a twelfth of the size; for no overlap set
	// [graphrag.Off].
	Size, Overlap int `source:"WildGraphBench, section 4.1"`
	// Sentences cuts between sentences: a chunk consists of whole sentences of at most Size tokens in all, and
	// chunks do not overlap.
	Sentences bool `source:"ours"`
	// KeepLinks keeps the targets of links in the texts that are indexed and read.
	KeepLinks bool `source:"ours"`
	// Splitter, if set, cuts the documents, and Size, Overlap and Sentences are not used. Name distinguishes it
	// from other splitters in a saved system, and where systems share chunks.
	Splitter chunk.Splitter `json:"-"`
	Name     string         `json:",omitempty" source:"-"`
}

// Defaults returns the options with the defaults in place of zero values.
func (c Cut) Defaults() Cut {
	c.Size = cmp.Or(c.Size, chunk.DefaultSize)
	c.Overlap = cmp.Or(c.Overlap, c.Size/12)
	return c
}

// Chunker returns the chunker for the cut.
func (c Cut) Chunker() (*chunk.Chunker, error) {
	splitter := c.Splitter
	if (splitter == nil) != (c.Name == "") {
		return nil, errors.New("Cut has one of Splitter and Name: set both, or none")
	}
	var err error
	if splitter == nil {
		splitter, err = chunk.Tokens(chunk.TokenOptions{Size: c.Size, Overlap: c.Overlap})
	}
	if c.Sentences && c.Splitter == nil && err == nil {
		splitter, err = chunk.Sentences(chunk.SentenceOptions{MaxTokens: c.Size})
	}
	if err != nil {
		return nil, err
	}
	o := chunk.Options{Splitter: splitter, Lead: load.Lead, Name: fmt.Sprintf("kit %+v", c.named())}
	if !c.KeepLinks {
		o.Clean = text.StripLinks
	}
	return chunk.New(o)
}

// named returns the cut without its splitter, which Name identifies.
func (c Cut) named() Cut {
	c.Splitter = nil
	return c
}

// Builder returns Build, or the function that Words, Vectors and Combine describe; nil if none of them is set.
func (f Frame) Builder() func(ctx context.Context, c *Corpus) (graphrag.Retriever, error) {
	if f.Build != nil || f.Words == nil && !f.Vectors {
		return f.Build
	}
	if f.Combine != nil {
		return f.both
	}
	return func(ctx context.Context, c *Corpus) (r graphrag.Retriever, err error) {
		if f.Words != nil {
			r, err = retrieve.NewSparse(ctx, c.Chunks, *f.Words)
		} else {
			var e embed.Embedder
			if e, err = c.Embedder(ctx); err == nil {
				r, err = retrieve.NewDense(ctx, c.Chunks, e)
			}
		}
		if err != nil {
			return nil, err
		}
		return retrieve.PerDoc(r, f.MaxPerDoc)
	}
}

// flat reports whether the system is flat. A system without a Build is, unless it combines or its embedder
// learns from the corpus.
func (f Frame) flat() bool {
	return f.Flat || f.Build == nil && f.Combine == nil && (f.Words != nil || f.Kit.Trained)
}

// both indexes the chunks of a corpus by words, by vectors or by both, for Combine.
func (f Frame) both(ctx context.Context, c *Corpus) (graphrag.Retriever, error) {
	var words, vectors graphrag.Retriever
	var err1, err2 error
	if f.Words != nil {
		words, err1 = c.Sparse(ctx, *f.Words)
	}
	if f.Vectors {
		vectors, err2 = c.Dense(ctx)
	}
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return f.Combine(c, words, vectors)
}

// check reports all errors in a frame.
func (f Frame) check() error {
	problems := []error{f.Problems, f.Kit.check(f.Needs)}
	if f.Name == "" {
		problems = append(problems, errors.New("the frame has no Name"))
	}
	if f.Builder() == nil {
		problems = append(problems, errors.New("the frame has no Build, which makes the retriever, and none of Words and Vectors in its place"))
	}
	if f.Build == nil && f.Words != nil && f.Vectors && f.Combine == nil {
		problems = append(problems, errors.New("the frame has Words and Vectors: set Combine, which merges them, or one of the two"))
	}
	if f.MaxPerDoc < 0 {
		problems = append(problems, fmt.Errorf("MaxPerDoc is %d, want 0 or more", f.MaxPerDoc))
	}
	if _, err := f.Cut.Chunker(); err != nil {
		problems = append(problems, err)
	}
	if _, err := kg.NewBase(f.Knowledge); err != nil {
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("%s: the frame is unusable: %w", f.Name, err)
	}
	return nil
}

// The steps of building that the kit counts: extractions of chunks, embedded texts, summaries. Recipes use
// [Done] to count merged descriptions, merged facts and reports on communities.
const (
	stepExtract = "extract"
	stepEmbed   = "embed"
)

// steps are the names of the values of [graphrag.Stage], in the order in which the steps run.
var steps = []string{stepExtract, stepEmbed, summary.Stage, "describe", "merge", "report"}

// tally counts the items of each step of one change, and reports them to Progress.
type tally struct {
	mu     sync.Mutex
	stages map[string]graphrag.Stage
	sofar  graphrag.IndexStats
	tell   func(graphrag.IndexStats)
}

type tallyKey struct{}

func withTally(ctx context.Context, tell func(graphrag.IndexStats)) (context.Context, *tally) {
	t := &tally{stages: make(map[string]graphrag.Stage), tell: tell}
	return context.WithValue(ctx, tallyKey{}, t), t
}

// note changes the tally of a context, if there is one, and reports the new counts.
func note(ctx context.Context, change func(*tally)) {
	t, _ := ctx.Value(tallyKey{}).(*tally)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if change(t); t.tell != nil {
		t.sofar.Stages = t.list()
		t.tell(t.sofar)
	}
}

// Done counts an item of a step of building, for the statistics of the index. err says why the model gave no
// usable reply, or is nil. An item for which a substitute was used counts as failed, though the index is
// complete.
func Done(ctx context.Context, step string, err error) {
	one := graphrag.Stage{Name: step, Asked: 1}
	if err != nil {
		one.Failed = 1
		if errors.Is(err, llm.ErrRefused) || errors.Is(err, llm.ErrFiltered) {
			one.Refused = 1
		}
	}
	Count(ctx, graphrag.IndexStats{Stages: []graphrag.Stage{one}})
}

// Count adds stages and usage to the statistics of the index that is built under ctx. A schema that limited the
// extraction replaces the schema counted before. Other fields are not used.
func Count(ctx context.Context, more graphrag.IndexStats) {
	note(ctx, func(t *tally) {
		t.sofar.Usage = t.sofar.Usage.Add(more.Usage)
		if more.Schema != nil {
			t.sofar.Schema = more.Schema
		}
		for _, m := range more.Stages {
			s := t.stages[m.Name]
			t.stages[m.Name] = graphrag.Stage{Name: m.Name, Asked: s.Asked + m.Asked, Failed: s.Failed + m.Failed, Refused: s.Refused + m.Refused, Repaired: s.Repaired + m.Repaired, Stale: s.Stale + m.Stale}
		}
	})
}

// list returns the counts in the order of the steps.
func (t *tally) list() []graphrag.Stage {
	var out []graphrag.Stage
	for _, s := range t.stages {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b graphrag.Stage) int {
		return cmp.Or(cmp.Compare(slices.Index(steps, a.Name), slices.Index(steps, b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// extracted returns the statistics of extraction. A chunk has failed if the model gave no
// usable reply for it, or nothing in its replies could be used.
func extracted(g *kg.Graph) graphrag.Stage {
	out := graphrag.Stage{Name: stepExtract, Asked: len(g.Passages)}
	kinds := make(map[int32]map[string]bool)
	for _, r := range g.Rejected {
		p, _ := g.Passage(r.Chunk)
		if kinds[p] == nil {
			kinds[p] = make(map[string]bool)
		}
		kinds[p][r.Kind] = true
	}
	for p, kind := range kinds {
		switch {
		case kind[kg.ProblemRefused]:
			out.Failed, out.Refused = out.Failed+1, out.Refused+1
		case kind[kg.ProblemChunk], len(g.PassageEntities(p)) == 0:
			out.Failed++
		default:
			out.Repaired++
		}
	}
	return out
}

// leastTokens is the least number of tokens that a model reads for a question without a K, since five short
// notes often lack a part of a chain of facts.
const leastTokens = 2000

// amount is a question with its form, and with the amount of text to read for it.
type amount struct {
	graphrag.Question
	floor int // least number of tokens to read, 0 for no minimum
}

// amount completes a question. If a model answers, the wording of the question decides its form; the offline
// reader is calibrated for single facts.
func (k Kit) amount(q graphrag.Question) amount {
	a := amount{Question: q}
	asks := k.Answer != NameOffline
	if q.Form == "" && asks && text.ReadQuestion(q.Text).Overview {
		a.Form = graphrag.Overview
	}
	if q.K != 0 || q.Tokens != 0 || q.Depth != 0 {
		a.K = max(a.K, graphrag.Off)
		return a
	}
	a.K = graphrag.DefaultK
	if asks {
		a.floor = leastTokens
		if a.Form == graphrag.Overview {
			a.K, a.floor = 2*a.K, 2*a.floor
		}
	}
	return a
}

// fill returns the evidence with further ranked chunks, as many as fit below the floor with everything that is
// read. Chunks that are part of the evidence are left out.
func (a amount) fill(found graphrag.Found, tokens func(string) int) []graphrag.Hit {
	out, left := slices.Clip(found.Evidence), a.floor
	if left == 0 {
		return out
	}
	for _, d := range found.Derived {
		left -= tokens(d.Text)
	}
	for _, h := range out {
		left -= tokens(h.Chunk.Prompt())
	}
	for _, h := range found.Ranked {
		if left <= 0 {
			break
		}
		if slices.ContainsFunc(out, func(o graphrag.Hit) bool {
			return o.Chunk.Doc == h.Chunk.Doc && o.Chunk.Start <= h.Chunk.Start && h.Chunk.End <= o.Chunk.End
		}) {
			continue
		}
		if left -= tokens(h.Chunk.Prompt()); left >= 0 {
			out = append(out, h)
		}
	}
	return out
}
