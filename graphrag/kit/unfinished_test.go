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
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

// stopping is a model and an embedder that count what they are asked for. The call after the last one that is
// left stops the build.
type stopping struct {
	*letters
	mu    sync.Mutex
	asked map[string]int
	left  int
	stop  func() error
}

func (s *stopping) ask(texts ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left < 0 && s.stop != nil {
		return s.stop()
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

// A first build, and an insert, in a store that fail, are cancelled or killed in the middle, several times, are made
// again of the replies and vectors that were there: each is asked for once, and the result is that of one build.
func TestUnfinishedChange(t *testing.T) {
	errStop := errors.New("the service is down")
	frames := map[string]func(*stopping) kit.Frame{
		"graph": func(s *stopping) kit.Frame {
			k := check.Of(kit.ByModel(kit.ModelOptions{Model: s, Embedder: s, Concurrency: 1})).OK(t)
			return kit.Frame{Name: "graph", Kit: k, Extract: check.Of(k.Triples()).OK(t),
				Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return finding(c, ctx) }}
		},
		"vectors": func(s *stopping) kit.Frame {
			return kit.Frame{Name: "vectors", Kit: offline(t).WithEmbedder(s), Vectors: true}
		},
	}
	for name, frame := range frames {
		for _, way := range []string{"fails", "fails in memory", "is cancelled", "is killed"} {
			t.Run(name+" "+way, func(t *testing.T) {
				docs, steps := rooms(600), []int{0, 1, 0} // two or three calls for all
				if name == "graph" {
					docs, steps = rooms(12), []int{1, 0, 5}
				}
				s, dir := &stopping{letters: &letters{dim: 8}, asked: map[string]int{}}, t.TempDir()
				memory := check.Of(kit.New(frame(s))).OK(t)
				// change indexes, or inserts, after some calls it is stopped.
				change := func(docs []graphrag.Document, insert bool, left int) (*graphrag.Found, error) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					killed := t.TempDir()
					s.left, s.stop = left, func() error {
						switch way {
						case "is cancelled":
							cancel()
							return ctx.Err()
						case "is killed":
							check.OK(t, os.CopyFS(killed, os.DirFS(dir))) // and nothing that comes later
							dir = killed
						}
						return errStop
					}
					if left < 0 {
						s.stop = nil
					}
					st := check.Of(disk.Open(dir, disk.Options{})).OK(t)
					defer st.Close()
					system := check.Of(kit.Open(ctx, frame(s), st, "c")).OK(t)
					defer system.Close()
					if way == "fails in memory" {
						system = memory
					}
					var err error
					if insert {
						_, err = system.Insert(ctx, graphrag.Documents(docs...))
					} else {
						_, err = system.Index(ctx, graphrag.Documents(docs...))
					}
					if err != nil {
						return nil, err
					}
					names, _, err := check.Of(st.Open(ctx, "c")).OK(t).Generations(ctx)
					check.True(t, err == nil && (len(names) == 1 || system == memory), "the generations %q are left, %v", names, err)
					found := check.Of(system.Retrieve(ctx, graphrag.Question{Text: "light 17", K: 5})).OK(t)
					return &found, nil
				}
				var got *graphrag.Found
				for i, part := range [][]graphrag.Document{docs[:len(docs)/2], docs[len(docs)/2:]} {
					for _, left := range steps {
						_, err := change(part, i == 1, left)
						check.True(t, errors.Is(err, errStop) || errors.Is(err, context.Canceled), "stopped with %v", err)
					}
					got = check.Of(change(part, i == 1, -1)).OK(t)
					if name == "graph" && i == 0 { // built again of the replies that are there
						check.OK(t, check.Err(change(part, false, -1)))
					}
				}
				for text, n := range s.asked {
					check.True(t, n == 1, "asked %d times: %.100s", n, text)
				}
				once := &stopping{letters: s.letters, asked: map[string]int{}}
				s, dir = once, t.TempDir()
				want := check.Of(change(docs, false, -1)).OK(t)
				diff := cmp.Diff(want, got, cmpopts.IgnoreFields(graphrag.Found{}, "Usage"))
				check.True(t, diff == "", "(-at once +after stops):\n%s", diff)
			})
		}
	}
}
