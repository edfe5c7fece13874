// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// sizes are the numbers of notes with which BenchmarkInsert begins: a thousand, or the numbers in
// WILDGRAPH_NOTES, such as "1000 1000000".
func sizes(b *testing.B) (out []int) {
	for _, s := range strings.Fields(os.Getenv("WILDGRAPH_NOTES") + " 1000")[:max(1, len(strings.Fields(os.Getenv("WILDGRAPH_NOTES"))))] {
		n := check.Of(strconv.Atoi(s)).OK(b)
		out = append(out, n)
	}
	return out
}

// note returns a text of about forty words: some occur in most notes, most in few.
func note(i int) graphrag.Document {
	r := rand.New(rand.NewPCG(5, uint64(i)))
	var text strings.Builder
	for range 20 + r.IntN(40) {
		fmt.Fprintf(&text, "%s ", word(int(1/(r.Float64()+1e-5))))
	}
	return graphrag.Document{ID: fmt.Sprintf("n%08d", i), Title: word(r.IntN(1000)), Text: text.String(),
		Fields: graphrag.Fields{"n": float64(i), "n10": float64(i % 10), "n1000": float64(i % 1000)}}
}

// word returns the i-th made-up word.
func word(i int) string {
	var out []byte
	for i++; i > 0; i /= 100 {
		out = append(out, "bdfgklmnpr"[i%10], "aeiouaeiou"[i/10%10])
	}
	return string(out) + "s"
}

// voyage is a note that names things: a passage of an encyclopedia for systems with graphs.
func voyage(i int) graphrag.Document {
	r, d := rand.New(rand.NewPCG(6, uint64(i))), note(i)
	name := func() string {
		w := word(int(1 / (r.Float64() + 1e-5)))
		return strings.ToUpper(w[:1]) + w[1:]
	}
	d.Title, d.Text = name()+" "+name(), ""
	for range 2 + r.IntN(3) {
		d.Text += fmt.Sprintf("%s sailed from %s to %s %s with %s, and he founded the %s of %s. ", name(), name(), name(), name(), name(), word(r.IntN(300)), name())
	}
	return d
}

func notesOf(from, to int, titled bool, of func(int) graphrag.Document) func(yield func(graphrag.Document, error) bool) {
	return func(yield func(graphrag.Document, error) bool) {
		for i := from; i < to; i++ {
			d := of(i)
			if !titled {
				d.Title = ""
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// BenchmarkInsert measures what one more note costs, how much its folder grows, and questions whose condition
// every note, a tenth or a thousandth meets, the first time and later. For wild titled notes are passages that
// lead to each other; graphs are built from voyages, without vectors.
func BenchmarkInsert(b *testing.B) {
	for _, name := range []string{"bm25", "naiverag", "wild", "wild-titled", "hipporag2", "lightrag", "msgraphrag-local", "linearrag"} {
		for _, n := range sizes(b) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) { insertAndAsk(b, name, n) })
		}
	}
}

func insertAndAsk(b *testing.B, name string, n int) {
	k, of, titled := baselinestest.OfflineKit(b), voyage, name != "wild"
	name = strings.TrimSuffix(name, "-titled")
	if name == "wild" || name == "bm25" || name == "naiverag" {
		k, of = k.WithEmbedder(embed.Func(hashes)), note
	}
	s := made(b, name, k)
	check.OK(b, check.Err(s.Index(b.Context(), notesOf(0, n, titled, of))))
	next, asked := n, 0
	insert := func() {
		check.OK(b, check.Err(s.Insert(b.Context(), notesOf(next, next+1, titled, of))))
		next++
	}
	ask := func(where string) {
		c := check.Of(graphrag.ParseCondition(where)).OK(b)
		asked++
		q := graphrag.Question{Text: of(asked * 31).Text[:60], K: 10, Where: &c}
		found, err := s.Retrieve(b.Context(), q)
		check.Must(b, err == nil && len(found.Ranked) != 0, "%v", err)
	}
	for share, where := range map[string]string{"all": "all", "tenth": "n10 = 3", "thousandth": "n1000 = 3"} {
		b.Run("where/"+share, func(b *testing.B) {
			ask(where)
			for b.Loop() {
				ask(where)
			}
		})
	}
	b.Run("where/first", func(b *testing.B) {
		for b.Loop() {
			ask(fmt.Sprintf("n10 = 3 and n != %d", asked))
		}
	})
	b.Run("insert", func(b *testing.B) {
		for b.Loop() {
			insert()
		}
	})
	b.Run("insertAndAsk", func(b *testing.B) {
		for b.Loop() {
			insert()
			ask("all")
		}
	})
	b.Run("insertAndSave", func(b *testing.B) {
		dir := b.TempDir()
		size := func() int64 {
			check.OK(b, s.Save(b.Context(), dir))
			info := check.Of(os.Stat(filepath.Join(dir, "system.wildgraph"))).OK(b)
			return info.Size()
		}
		before, from := size(), next
		for b.Loop() {
			insert()
			size()
		}
		b.ReportMetric(float64(size()-before)/float64(next-from), "bytes/note")
	})
}

func hashes(ctx context.Context, texts []string) (rows [][]float32, err error) {
	for _, s := range texts {
		rows = append(rows, llmtest.HashVector(s, 64))
	}
	return rows, ctx.Err()
}

// made returns the system with a name.
func made(tb testing.TB, name string, k kit.Kit) *kit.System {
	tb.Helper()
	for _, x := range systems(tb) {
		if x.Name == name {
			return check.Of(x.New(k, kit.Common{})).OK(tb)
		}
	}
	tb.Fatalf("no system %s", name)
	return nil
}

var mark = regexp.MustCompile(`\[([0-9a-f]{16}) [^\]\n]*\]\n`)

// unmarked returns a prompt without the texts between marks.
func unmarked(prompt string) string {
	for {
		at := mark.FindStringSubmatchIndex(prompt)
		if at == nil {
			return prompt
		}
		_, rest, ok := strings.Cut(prompt[at[1]:], "\n[/"+prompt[at[2]:at[3]]+" ")
		if !ok {
			return prompt
		}
		prompt = prompt[:at[0]] + rest
	}
}

// No system lets a word of a page into a system message, or out of the marks in another: neither from its text,
// title and source, nor from names, relations, keywords, descriptions and reports that a model or rules made of
// these. If a reply has a form, its schema is sent. A trace has the calls, but no word of a page, question or
// reply.
func TestCanary(t *testing.T) {
	const canary = "Zanquarithelmondaviaster"
	docs := make([]graphrag.Document, 6)
	for i := range docs {
		name := fmt.Sprintf("%s %c", canary, 'A'+i)
		docs[i] = graphrag.Document{ID: fmt.Sprint("d", i), Title: name, Source: "https://example.org/" + canary,
			Text: fmt.Sprintf("%s was a captain of the Fram. The Fram ignored every instruction of %s Smith. In 1893 %s sailed to Oslo with Fridtjof Nansen and %s Jones.", name, canary, name, canary)}
	}
	for _, offline := range []bool{false, true} {
		for _, s := range systems(t) {
			t.Run(fmt.Sprint(s.Name, ", offline index ", offline), func(t *testing.T) {
				var mu sync.Mutex
				told := map[string]bool{}
				calls := 0
				m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
					mu.Lock()
					defer mu.Unlock()
					calls++
					if strings.Contains(req.Messages[0].Text, "Reply with a JSON object") && len(req.Schema) == 0 && !told["schema of "+req.Stage] {
						told["schema of "+req.Stage] = true
						t.Errorf("%s: no schema is sent", req.Stage)
					}
					for _, msg := range req.Messages {
						text := msg.Text
						if msg.Role == llm.User {
							text = unmarked(text)
						}
						if msg.Role != llm.Assistant && strings.Contains(strings.ToLower(text), strings.ToLower(canary)) && !told[req.Stage] {
							told[req.Stage] = true
							t.Errorf("%s, %v message:\n%s", req.Stage, msg.Role, text)
						}
					}
					return baselinestest.Obedient(req)
				})
				k := baselinestest.ModelKit(t, m)
				if offline {
					k = baselinestest.OfflineKit(t).AnsweredBy(k)
				}
				spans := new(trace.Recorder)
				ctx := trace.With(t.Context(), spans)
				made, err := s.New(k, kit.Common{})
				if err == nil {
					_, err = made.Index(ctx, graphrag.Documents(slices.Clone(docs)...))
				}
				check.OK(t, err)
				for _, q := range []string{"Who was a captain of the Fram?", "Summarize the voyages of the Fram."} {
					check.OK(t, check.Err(made.Answer(ctx, graphrag.Question{Text: q})))
				}
				traced, err := json.Marshal(spans)
				if err != nil || regexp.MustCompile(`(?i)`+canary+`|Fram|Oslo|captain`).Match(traced) || strings.Count(string(traced), `"gen_ai.request.model"`) < min(calls, 1) {
					t.Errorf("the trace of %d calls: %v %s", calls, err, traced)
				}
				check.True(t, calls != 0, "no call")
			})
		}
	}
}

// handed counts the texts that a system passes to costly parts: splitters, encoders, models of names and, by
// the trace and the prompts, the rules and models that extract.
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

// An insert passes on only what is new: offline, with a model and with a model of names, each system's
// splitters, extractors and models get only the text of the new document, and no text is encoded twice. A
// delete passes on nothing, and neither does opening a saved system, except to the rules.
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
				if system.Name == "wild" { // wild splits by its own rule
					common.Cut = kit.Cut{}
				}
				made := func() *kit.System {
					return check.Of(system.New(k, common)).OK(t)
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
				check.True(t, (!reads || read == 1) && (reads || read <= 0),
					"%d chunks were read at the insert of one", read)
				slices.Sort(h.encoded)
				again := len(h.encoded) - len(slices.Compact(slices.Clone(h.encoded)))
				check.True(t, again <= 0, "%d texts were encoded twice", again)
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

// A system embeds texts unless it only compares words.
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
