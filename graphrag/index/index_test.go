// SPDX-License-Identifier: Apache-2.0

package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// ships are documents of one chunk each, whose names are connected.
func ships(n int) (docs []graphrag.Document) {
	for i := range n {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("log%03d.md", i), Title: fmt.Sprintf("Log %d", i),
			Text: fmt.Sprintf("Captain Arne%d sailed the ship Fram%d from Oslo%d.", i, i%7, i%3)})
	}
	return docs
}

// scribe is a model that counts how often each request is made.
type scribe struct {
	mu    sync.Mutex
	asked map[string]int
	fail  func(n int, text string) error
}

func (*scribe) Name() string { return "scribe" }

func (s *scribe) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	text := fmt.Sprint(req.Messages)
	s.mu.Lock()
	if s.asked == nil {
		s.asked = make(map[string]int)
	}
	s.asked[text]++
	n := 0
	for _, times := range s.asked {
		n += times
	}
	s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(n, text); err != nil {
			return llm.Reply{}, err
		}
	}
	reply := fmt.Sprintf("%d letters", len(text))
	last := req.Messages[len(req.Messages)-1].Text
	if at := strings.LastIndex(last, "Captain"); at >= 0 && req.Stage == extract.StageRecords {
		words := strings.Fields(last[at:])
		reply = fmt.Sprintf(`("entity"<|>%[1]s<|>person<|>A captain.)##("entity"<|>%[2]s<|>ship<|>The ship of %[1]s.)##("relationship"<|>%[1]s<|>%[2]s<|>%[1]s sailed her.<|>5)<|MORE|>`, words[1], words[5])
	} else if req.Stage == extract.StageGlean {
		reply = "<|COMPLETE|>"
	}
	return llm.Reply{Text: reply, Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1, PromptTokens: 7}}, nil
}

// hashes is an embedder by hashing.
type hashes struct {
	mu    *sync.Mutex
	asked map[string]int
}

func (hashes) Name() string { return "hashes" }

func (h hashes) EmbedDocuments(_ context.Context, texts []string) (out [][]float32, _ error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range texts {
		h.asked[t]++
		out = append(out, llmtest.HashVector(t, 8))
	}
	return out, nil
}

func (h hashes) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return llmtest.HashVector(text, 8), nil
}

// chronicle is a system that asks a model in three steps: for the records of each chunk, for a description of
// each entity, and for a summary of all descriptions. Retrieve returns the summary.
func chronicle(m llm.Model, e llm.NamedEmbedder) (*kit.System, error) {
	k, err := kit.ByModel(kit.ModelOptions{Model: m, Embedder: e})
	if err != nil {
		return nil, err
	}
	f := kit.Frame{Name: "chronicle", Kit: k, Needs: []string{"Find"}}
	f.ExtractBy(nil, k.RecordsFor(extract.RecordOptions{Format: extract.Tuples}))
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		said := make([]string, len(c.Graph.Entities))
		ask := func(ctx context.Context, text string) (string, error) {
			reply, err := k.IndexModel.Generate(ctx, llm.Request{Stage: "tell", Messages: []llm.Message{{Role: llm.User, Text: text}}})
			return reply.Text, err
		}
		if err := kit.Each(ctx, len(said), func(ctx context.Context, i int) (err error) {
			said[i], err = ask(ctx, c.Graph.Entities[i].Name)
			return llm.Fatal(err)
		}); err != nil {
			return nil, err
		}
		summary, err := ask(ctx, strings.Join(said, "; "))
		if err != nil {
			return nil, err
		}
		texts, err := c.Find(ctx, retrieve.TitledTexts(c.Chunks))
		return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
			scores, err := texts.Scores(ctx, q.Text, nil)
			hits, failed := c.ByScore(ctx, scores, q.Want(), "words")
			return graphrag.Found{Ranked: hits, Derived: []graphrag.Derived{{Kind: "summary", Text: summary}}}, errors.Join(err, failed)
		}), err
	}
	return kit.New(f)
}

// found returns the result of a question.
func found(t *testing.T, s *kit.System) graphrag.Found {
	t.Helper()
	defer s.Close()
	return check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: "Who sailed the Fram3?", K: 5})).OK(t)
}

func open(t *testing.T, m *scribe, h hashes) *index.Index {
	t.Helper()
	st := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
	x := check.Of(index.Open(t.Context(), index.Options{Store: st, Name: "logs", System: func() (*kit.System, error) { return chronicle(m, h) }})).OK(t)
	t.Cleanup(func() { check.OK(t, errors.Join(x.Close(), st.Close())) })
	return x
}

// rounds runs the shares of a job concurrently, again after an error, and returns the number of rounds.
func rounds(t *testing.T, x *index.Index, n int) int {
	t.Helper()
	p := index.Progress{Shares: n}
	for shares := p.Next(); shares != nil; shares = p.Next() {
		check.Must(t, p.Round <= 20, "no end: %+v", p)
		done := make([]index.Done, len(shares))
		var all sync.WaitGroup
		for i, s := range shares {
			all.Go(func() {
				for tries := 0; tries < 200; tries++ {
					d, err := x.Do(t.Context(), s)
					done[i].Usage, done[i].Texts = done[i].Usage.Add(d.Usage), done[i].Texts+d.Texts
					if done[i].Missing = d.Missing; err == nil {
						return
					}
				}
				t.Error("a share fails for ever")
			})
		}
		all.Wait()
		for _, d := range done {
			p.Add(d)
		}
	}
	return p.Round
}

// Any number of shares requests every reply once, in the steps of the system; the system built from the replies
// makes no requests and equals that of one process. A failed share is repeated, and pays again only for failed
// calls. A refusal is stored.
func TestShares(t *testing.T) {
	docs := ships(40)
	var want graphrag.Found
	for _, tt := range []struct {
		shares   int
		failures bool
	}{{0, false}, {1, false}, {2, false}, {5, false}, {3, true}} {
		m, h := &scribe{}, hashes{new(sync.Mutex), map[string]int{}}
		s := check.Of(chronicle(m, h)).OK(t)
		if tt.shares == 0 {
			check.OK(t, check.Err(s.Index(t.Context(), graphrag.Documents(docs...))))
			want = found(t, s)
			continue
		}
		failed := make(map[string]int)
		if tt.failures {
			m.fail = failing(failed)
		}
		x := open(t, m, h)
		check.OK(t, check.Err(x.Put(t.Context(), graphrag.Documents(append(docs, graphrag.Document{ID: "z", Text: "Gone."})...))))
		count, err := x.Put(t.Context(), graphrag.Documents(docs...))
		check.True(t, count == 40 && err == nil, "%d documents, %v", count, err)
		took := rounds(t, x, tt.shares)
		check.True(t, took <= 7 || tt.failures, "%d shares took %d rounds", tt.shares, took)
		asked, embedded := len(m.asked), len(h.asked)
		m.fail = nil
		stats := check.Of(x.Build(t.Context(), s)).OK(t)
		names := len(s.Graph().Entities)
		diff := cmp.Diff(want, found(t, s))
		check.True(t, stats.Documents == 40 && (diff == "" || tt.failures), "%d shares, %d documents (-alone +shares):\n%s", tt.shares, stats.Documents, diff)
		check.True(t, !tt.failures || names == 39+7 && stats.Stages[0].Refused == 1, "%d entities, %+v", names, stats.Stages)
		for text, times := range m.asked {
			check.Equal(t, times, 1+failed[text], "%d shares: failed %d times, asked %d times: %.200s", tt.shares, failed[text], times, text)
		}
		for text, times := range h.asked {
			check.Equal(t, times, 1, "%d shares: embedded %.200s", tt.shares, text)
		}
		check.True(t, len(m.asked) == asked && len(h.asked) == embedded && asked >= 80 && embedded >= 40,
			"%d shares: %d and %d asked, then %d and %d", tt.shares, asked, embedded, len(m.asked), len(h.asked))
	}
}

// failing refuses one passage, and fails a tenth of the other calls and counts these.
func failing(failed map[string]int) func(int, string) error {
	rng, mu := rand.New(rand.NewPCG(1, 1)), new(sync.Mutex)
	return func(_ int, text string) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case strings.Contains(text, "Arne13 "):
			return &llm.Error{Kind: llm.ErrRefused, Billed: llm.BilledYes}
		case rng.IntN(10) == 0:
			failed[text]++
			return &llm.Error{Kind: llm.ErrTransient, Billed: llm.BilledUnknown}
		}
		return nil
	}
}

func TestErrors(t *testing.T) {
	_, err := index.Open(t.Context(), index.Options{Name: "no/name"})
	for _, want := range []string{"Store is missing", "System is missing", "Name"} {
		check.True(t, err != nil && strings.Contains(err.Error(), want), "%v: want %q", err, want)
	}
	x := open(t, &scribe{}, hashes{new(sync.Mutex), map[string]int{}})
	_, err = x.Put(t.Context(), graphrag.Documents(append(ships(2), ships(1)...)...))
	check.Fails(t, err, "log000.md", "two documents of an ID")
	check.True(t, check.Err(x.Do(t.Context(), index.Share{I: 3, N: 3})) != nil, "a share that there is not")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(x.Do(ctx, index.Share{N: 1})), context.Canceled, "cancelled")
}
