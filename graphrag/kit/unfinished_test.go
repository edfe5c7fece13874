// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

var errStop = errors.New("the service is down")

// stopping is a model and an embedder that count their requests. After a number of calls the next one stops the
// change in one of several ways.
type stopping struct {
	*letters
	mu     sync.Mutex
	asked  map[string]int
	left   int
	way    string
	frame  func(*stopping) kit.Frame
	dir    string // folder of the store
	cancel context.CancelFunc
	memory *kit.System
}

func newStopping(t *testing.T, way string, frame func(*stopping) kit.Frame) *stopping {
	s := &stopping{letters: &letters{dim: 8}, asked: map[string]int{}, way: way, frame: frame, dir: t.TempDir()}
	s.memory = check.Of(kit.New(frame(s))).OK(t)
	return s
}

func (s *stopping) ask(texts ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left < 0 {
		if s.way == "killed" {
			now := s.dir
			s.dir += "+"
			return errors.Join(errStop, os.CopyFS(s.dir, os.DirFS(now))) // and later changes of the folder are lost
		}
		if s.way == "cancelled" {
			s.cancel()
		}
		return errStop
	}
	for _, text := range texts {
		s.asked[text]++
	}
	return nil
}

func (s *stopping) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	text := `{"named_entities": ["Light", "Room"]}`
	if req.Stage == extract.StageTriples {
		text = `{"triples": [["Light", "shines in", "Room"]]}`
	}
	return llm.Reply{Text: text, Finish: llm.FinishStop}, s.ask(fmt.Sprint(req.Stage, req.Messages))
}

func (s *stopping) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	if err := s.ask(texts...); err != nil {
		return nil, err
	}
	return s.letters.EmbedDocuments(ctx, texts)
}

// change makes an index or an insert in a process of its own, which is stopped after some calls.
func (s *stopping) change(t *testing.T, docs []graphrag.Document, insert bool, left int) (found graphrag.Found, err error) {
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(t.Context())
	defer s.cancel()
	s.left = left
	st := check.Of(disk.Open(s.dir, disk.Options{})).OK(t)
	defer st.Close()
	system := check.Of(kit.Open(ctx, s.frame(s), st, "c")).OK(t)
	defer system.Close()
	if s.way == "in memory" {
		system = s.memory
	}
	change := system.Index
	if insert {
		change = system.Insert
	}
	if _, err := change(ctx, graphrag.Documents(docs...)); err != nil {
		return found, err
	}
	names, _, err := check.Of(st.Open(ctx, "c")).OK(t).Generations(ctx)
	check.True(t, err == nil && (len(names) == 1 || system == s.memory), "the generations %q are left, %v", names, err)
	return system.Retrieve(ctx, graphrag.Question{Text: "light 17", K: 5})
}

// A first build and an insert that fail, are cancelled or killed several times are completed from the replies
// and vectors that were stored: each is requested once, and the result equals that of one build.
func TestUnfinishedChange(t *testing.T) {
	graph := func(s *stopping) kit.Frame {
		k := check.Of(kit.ByModel(kit.ModelOptions{Model: s, Embedder: s, Concurrency: 1})).OK(t)
		return kit.Frame{Name: "graph", Kit: k, Extract: check.Of(k.Triples()).OK(t),
			Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return finding(c, ctx) }}
	}
	vectors := func(s *stopping) kit.Frame {
		return kit.Frame{Name: "vectors", Kit: offline(t).WithEmbedder(s), Vectors: true}
	}
	for _, tt := range []struct {
		name  string
		frame func(*stopping) kit.Frame
		docs  []graphrag.Document
		steps []int // numbers of calls after which the change stops, in turn
	}{{"graph", graph, rooms(12), []int{1, 0, 5}}, {"vectors", vectors, rooms(600), []int{0, 1, 0}}} {
		for _, way := range []string{"fails", "in memory", "cancelled", "killed"} {
			t.Run(tt.name+"/"+way, func(t *testing.T) {
				const enough = 1000
				s, got := newStopping(t, way, tt.frame), graphrag.Found{}
				for i, docs := range [][]graphrag.Document{tt.docs[:len(tt.docs)/2], tt.docs[len(tt.docs)/2:]} {
					for _, left := range tt.steps {
						err := check.Err(s.change(t, docs, i == 1, left))
						check.True(t, errors.Is(err, errStop) || way == "cancelled" && errors.Is(err, context.Canceled), "stopped with %v", err)
					}
					got = check.Of(s.change(t, docs, i == 1, enough)).OK(t)
					if tt.name == "graph" && i == 0 { // builds again from the stored replies
						check.OK(t, check.Err(s.change(t, docs, false, enough)))
					}
				}
				for text, n := range s.asked {
					check.True(t, n == 1, "asked %d times: %.100s", n, text)
				}
				want := check.Of(newStopping(t, way, tt.frame).change(t, tt.docs, false, enough)).OK(t)
				check.Equal(t, cmp.Diff(want, got, cmpopts.IgnoreFields(graphrag.Found{}, "Usage")), "", "(-at once +after stops)")
			})
		}
	}
}

// A change during which another one ends fails with the remedy, changes nothing, and can be repeated.
func TestChangesAtOnce(t *testing.T) {
	st := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
	defer st.Close()
	for _, name := range []string{"searched", "built"} {
		f := kit.Frame{Name: "notes", Kit: offline(t), Words: &bm25.Options{}}
		if name == "built" {
			f.Words, f.Build = nil, func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return finding(c, ctx) }
		}
		one, other := check.Of(kit.Open(t.Context(), f, st, name)).OK(t), check.Of(kit.Open(t.Context(), f, st, name)).OK(t)
		docs := rooms(4)
		index(t, one, docs[0])
		slow := func(yield func(graphrag.Document, error) bool) {
			check.OK(t, check.Err(other.Insert(t.Context(), graphrag.Documents(docs[1]))))
			yield(docs[2], nil)
		}
		check.Fails(t, check.Err(one.Insert(t.Context(), slow)), "make this change again", name)
		check.OK(t, check.Err(one.Insert(t.Context(), graphrag.Documents(docs[3]))))
		ids := check.Of(one.List(t.Context())).OK(t)
		check.Equal(t, ids, []string{docs[0].ID, docs[1].ID, docs[3].ID})
		check.OK(t, errors.Join(one.Close(), other.Close()))
	}
}
