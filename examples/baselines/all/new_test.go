// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// handed counts the texts that a system hands to what costs: by splitters, encoders, models of names,
// and, of the rules and models that extract, by the trace and the prompts.
type handed struct {
	mu                    sync.Mutex
	split, named, encoded []string
	read                  int64
	model                 *llmtest.Script
}

func (h *handed) Split(_ context.Context, s string) ([]chunk.Span, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.split = append(h.split, s)
	return []chunk.Span{{End: len(s)}}, nil
}

func (h *handed) encode(ctx context.Context, texts []string) ([][]float32, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.encoded = append(h.encoded, texts...)
	return hashes(ctx, texts)
}

func (h *handed) Name() string { return "names" }

func (h *handed) Find(_ context.Context, texts []string) ([][]text.Match, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.named = append(h.named, texts...)
	out := make([][]text.Match, len(texts))
	for i, s := range texts {
		out[i] = []text.Match{{End: strings.IndexByte(s, ' '), Kind: "person"}}
	}
	return out, nil
}

func (h *handed) Start(ctx context.Context, _ string, _ ...slog.Attr) (context.Context, trace.Span) {
	return ctx, h
}

func (h *handed) Set(attrs ...slog.Attr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range attrs {
		if a.Key == "wildgraph.read" {
			h.read += a.Value.Int64()
		}
	}
}

func (h *handed) End(error) {}

// extracted are the prompts by which the model was asked to extract.
func (h *handed) extracted() (out []string) {
	for _, r := range h.model.Requests() {
		if strings.HasPrefix(r.Stage, "extract") {
			out = append(out, fmt.Sprint(r.Messages))
		}
	}
	return out
}

// An insert hands on what is new: of each system, offline, with a model and with a model of names,
// splitters, extractors and models get the text of the new document alone, and no text is encoded
// that was encoded before. A delete hands on nothing, nor does an opened system that was saved, but
// to the rules.
func TestInsertIsOfWhatIsNew(t *testing.T) {
	names := strings.Fields("Archer Nansen Amundsen Oslo Fram Larvik Bergen Svalbard Johansen Sverdrup")
	trip := func(i int) graphrag.Document {
		n := func(k int) string { return names[k%10] }
		return graphrag.Document{ID: fmt.Sprintf("d%03d", i), Title: n(i) + " " + n(i/10), Text: fmt.Sprintf("%s sailed to %s with %s in 19%02d. The ship of %s was built in %s by carpenter %d.", n(i), n(i+3), n(7*i), i, n(3*i), n(i/10), i)}
	}
	var before []graphrag.Document
	for i := range 30 {
		before = append(before, trip(i))
	}
	more := trip(60)
	isNew := func(s string) bool { return strings.Contains(s, "carpenter 60") }
	for _, system := range systems(t) {
		for _, kind := range []string{"offline", "model", "names"} {
			t.Run(system.Name+"/"+kind, func(t *testing.T) {
				h := &handed{model: llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)}
				k := baselinestest.OfflineKit(t)
				switch {
				case kind == "model":
					k = baselinestest.ModelKit(t, h.model)
				case system.NoDocuments:
					t.Skip("it has no answer without a model")
				case kind == "names":
					k = k.WithNames(h)
				}
				k = k.WithEmbedder(embed.Func(h.encode))
				common := kit.Common{Cut: kit.Cut{Splitter: h, Name: "counted"}}
				if system.Name == "wild" { // it cuts by its own rule
					common.Cut = kit.Cut{}
				}
				made := func() *kit.System {
					s := check.Of(system.New(k, common)).OK(t)
					return s
				}
				s, ctx := made(), trace.With(t.Context(), h)
				do := func(_ graphrag.IndexStats, err error) (prompts []string, read int64) {
					t.Helper()
					check.OK(t, err)
					prompts, read = h.extracted(), h.read
					h.split, h.named, h.read = nil, nil, 0
					return prompts, read
				}
				prompts, read := do(s.Index(ctx, graphrag.Documents(before...)))
				reads := read > 0
				_, err := s.Insert(ctx, graphrag.Documents(more))
				split, named := h.split, h.named
				now, read := do(graphrag.IndexStats{}, err)
				for what, texts := range map[string][]string{"split": split, "searched for names": named, "extracted from": now[len(prompts):]} {
					if i := slices.IndexFunc(texts, func(s string) bool { return !isNew(s) }); i >= 0 || len(texts) > 2 {
						t.Errorf("%d texts were %s at the insert of one: %.300q", len(texts), what, texts[max(0, i):])
					}
				}
				if reads && read != 1 || !reads && read > 0 {
					t.Errorf("%d chunks were read at the insert of one", read)
				}
				slices.Sort(h.encoded)
				if again := len(h.encoded) - len(slices.Compact(slices.Clone(h.encoded))); again > 0 {
					t.Errorf("%d texts were encoded twice", again)
				}
				dir, encoded := t.TempDir(), len(h.encoded)
				check.OK(t, s.Save(ctx, dir))
				opened := made()
				if again, _ := do(opened.Open(ctx, dir)); len(again) > len(now) || len(h.encoded) > encoded || len(h.split)+len(h.named) > 0 {
					t.Errorf("opening asked for %d extractions and %d vectors, split %d texts and searched %d", len(again)-len(now), len(h.encoded)-encoded, len(h.split), len(h.named))
				}
				for _, s := range []*kit.System{s, opened} {
					if again, read := do(s.Delete(ctx, more.ID)); len(again) > len(now) || read > 0 || len(h.split)+len(h.named) > 0 {
						t.Errorf("a delete asked for %d extractions and read %d chunks", len(again)-len(now), read)
					}
				}
				if g, fresh := s.Graph(), made(); g != nil {
					do(fresh.Index(ctx, graphrag.Documents(before...)))
					if a, b := g, fresh.Graph(); len(a.Entities) != len(b.Entities) || len(a.Relations) != len(b.Relations) || len(a.Entities) == 0 {
						t.Errorf("%d entities and %d relations are left, of an index made anew %d and %d", len(a.Entities), len(a.Relations), len(b.Entities), len(b.Relations))
					}
				}
			})
		}
	}
}

// A system embeds texts unless it goes by words alone.
func TestWords(t *testing.T) {
	for _, x := range all.Systems() {
		if x.NoDocuments || x.Lacks() != "" {
			continue
		}
		var n atomic.Int64
		k := baselinestest.OfflineKit(t).WithEmbedder(embed.Func(func(_ context.Context, texts []string) ([][]float32, error) {
			n.Add(int64(len(texts)))
			out := make([][]float32, len(texts))
			for i := range out {
				out[i] = llmtest.HashVector(texts[i], 8)
			}
			return out, nil
		}))
		s := check.Of(x.New(k, kit.Common{})).OK(t)
		check.OK(t, check.Err(s.Index(t.Context(), graphrag.Documents(baselinestest.Pages[:2]...))))
		check.OK(t, check.Err(s.Retrieve(t.Context(), baselinestest.Questions[0])))
		check.True(t, (n.Load() == 0) == x.Words, "%s embeds %d texts, Words %v", x.Name, n.Load(), x.Words)
	}
}
