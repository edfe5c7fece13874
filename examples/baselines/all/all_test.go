// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Every system can be made, under its own name, from both kits, and not from a kit that lacks the parts it
// needs.
func TestSystems(t *testing.T) {
	offline, model := baselinestest.OfflineKit(t), baselinestest.ModelKit(t, llmtest.NewScript("m"))
	seen := make(map[string]bool)
	for _, s := range systems(t) {
		made, err := s.New(model, kit.Common{})
		check.True(t, err == nil && made.Name() == s.Name && !seen[s.Name], "%s: %v", s.Name, err)
		for _, name := range append([]string{s.Name}, s.Also...) {
			seen[name] = true
			if found, ok := all.Find(name); !ok || found.Name != s.Name || !slices.Contains(all.Names(), name) {
				t.Errorf("%s is not found", name)
			}
		}
		_, err = s.New(offline, kit.Common{})
		check.True(t, (err != nil) == s.NoDocuments, "%s offline: %v", s.Name, err)
		_, err = s.New(kit.Kit{}, kit.Common{})
		check.True(t, err != nil && strings.HasPrefix(err.Error(), s.Name), "%s of an empty kit: %v", s.Name, err)
		if _, err := s.New(model, kit.Common{MaxPerDoc: -1}); !s.NoDocuments && (err == nil || !strings.Contains(err.Error(), "MaxPerDoc")) {
			t.Errorf("%s with -1 chunks of a page: %v", s.Name, err)
		}
	}
	s, _ := all.Find("lightrag-naive")
	check.Equal(t, s.Name, "naiverag", "lightrag-naive is %q, want the system that it is", s.Name)
	_, ok := all.Find("no-such")
	check.True(t, !ok, "found what is not there")
}

// Every agent can be made from a kit with a model, under its own name, and from no other; a question takes the
// calls that its entry says, and one for the answer.
func TestAgents(t *testing.T) {
	offline := baselinestest.OfflineKit(t)
	graph := systems(t)
	st := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
	defer st.Close()
	for _, s := range all.Agents() {
		if at := slices.IndexFunc(graph, func(x all.System) bool { return x.NeedsGraph && "agentic:"+x.Name == s.Name }); at >= 0 {
			s = withGraph(t, s)
		}
		found, ok := all.Find(s.Name)
		check.True(t, ok && found.Name == s.Name && slices.Contains(all.Names(), s.Name), "%s is not found", s.Name)
		if _, err := s.New(offline, kit.Common{}); (err != nil) != s.NeedsModel || err != nil && !strings.HasPrefix(err.Error(), s.Name) {
			t.Errorf("%s offline: %v", s.Name, err)
		}
		m := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
		made, err := s.New(baselinestest.ModelKit(t, m), kit.Common{})
		if err != nil || made.Name() != s.Name {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if _, err := made.Index(t.Context(), graphrag.Documents(baselinestest.Pages...)); err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		before := m.Calls()
		a, err := made.Answer(t.Context(), baselinestest.Questions[0])
		if err != nil || a.Text == "" || s.NeedsModel && !slices.ContainsFunc(a.Steps, func(st graphrag.Step) bool { return st.Kind == "answer" }) {
			t.Errorf("%s: %+v, %v", s.Name, a, err)
		}
		n := m.Calls() - before
		check.True(t, !s.NeedsModel || n >= 3, "%s: %d calls, want two turns and an answer at least", s.Name, n)
		stored := check.Of(kit.Open(t.Context(), made.Frame(), st, strings.ReplaceAll(s.Name, ":", "-"))).OK(t, s.Name)
		baselinestest.Index(t, stored, baselinestest.Pages...)
		b := check.Of(stored.Answer(t.Context(), baselinestest.Questions[0])).OK(t, s.Name)
		check.Equal(t, b.Steps, a.Steps, "%s (-store +memory)", s.Name)
		check.OK(t, stored.Close())
	}
	check.Contains(t, all.Shown(all.Names()), "files, context; and agentic:NAME")
}

func withGraph(t *testing.T, s all.System) all.System {
	ix := check.Of(triples.New(t.Context(), triples.TSV("graph", strings.NewReader("Fram\tbuilder\tColin Archer")).All(), triples.Options{})).OK(t)
	return s.WithGraph(ix)
}

// However many chunks of a page are found, a ranking has at most MaxPerDoc of them.
func TestMaxPerDoc(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	for _, s := range systems(t) {
		if s.NoDocuments {
			continue
		}
		for limit, want := range map[int]bool{0: true, 1: false} { // by limit: whether a page occurs twice
			made, err := s.New(k, kit.Common{MaxPerDoc: limit, Cut: kit.Cut{Size: 20, Overlap: -1}})
			if err == nil {
				_, err = made.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))
			}
			check.OK(t, err)
			found, err := made.Retrieve(t.Context(), graphrag.Question{Text: "What is told of the Fram?", K: 10})
			check.Must(t, err == nil && len(found.Ranked) >= 2,
				"%s: %d chunks, %v", s.Name, len(found.Ranked), err)
			pages := make(map[string]bool)
			for _, h := range found.Ranked {
				pages[h.Chunk.Doc] = true
			}
			want = want && s.Name != wild.Name // wild ranks each page once
			check.True(t, (len(pages) < len(found.Ranked)) == want,
				"%s, at most %d chunks of a page: %d chunks of %d pages", s.Name, limit, len(found.Ranked), len(pages))
		}
	}
}

// A splitter of the caller cuts the texts of every system except wild, which says that it has its own rule.
func TestOwnSplitter(t *testing.T) {
	halves := chunk.SplitterFunc(func(_ context.Context, text string) ([]chunk.Span, error) {
		middle := strings.IndexByte(text, '\n') + 1
		return []chunk.Span{{End: middle}, {Start: middle, End: len(text)}}, nil
	})
	page := graphrag.Document{ID: "fram", Title: "Fram", Text: "Colin Archer built the Fram in Larvik.\nRoald Amundsen sailed the Fram to Antarctica."}
	k := baselinestest.OfflineKit(t)
	for _, s := range systems(t) {
		made, err := s.New(k, kit.Common{Cut: kit.Cut{Splitter: halves, Name: "halves"}})
		if s.NoDocuments {
			continue
		}
		if s.Name == wild.Name {
			check.True(t, err != nil, "wild takes a splitter")
			continue
		}
		check.OK(t, err)
		stats, err := made.Index(t.Context(), graphrag.Documents(page))
		check.True(t, err == nil && stats.Chunks == 2, "%s: %d chunks, %v", s.Name, stats.Chunks, err)
	}
}

// Systems find in a store the same as in memory, also after changes, and leave one generation.
func TestInStore(t *testing.T) {
	dir := t.TempDir()
	s, err := disk.Open(dir, disk.Options{})
	check.OK(t, err)
	defer s.Close()
	_, err = s.Create(t.Context(), "other", store.Schema{Tables: map[string]store.TableSchema{"t": {}}})
	check.OK(t, err)
	reading := check.Of(disk.Open(dir, disk.Options{ReadOnly: true})).OK(t)
	defer reading.Close()
	for _, x := range systems(t) {
		t.Run(x.Name, func(t *testing.T) {
			if x.NoDocuments {
				t.Skip()
			}
			baselinestest.Stored(t, x.New, s, reading)
			c := check.Of(s.Open(t.Context(), x.Name)).OK(t)
			generations, _, err := c.Generations(t.Context())
			check.True(t, len(generations) == 1 && err == nil, "generations %v are left, %v", generations, err)
		})
	}
}

// No system shows anything of documents that a question or a scope excludes: offline, with a model, and in a
// store. WILDGRAPH_LEAKS sets the number of questions for each.
func TestNothingLeaks(t *testing.T) {
	questions := 16
	if n, err := strconv.Atoi(os.Getenv("WILDGRAPH_LEAKS")); err == nil {
		questions = n
	}
	inStore := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
	t.Cleanup(func() { _ = inStore.Close() })
	for _, x := range systems(t) {
		if x.NoDocuments {
			continue
		}
		for kind, k := range map[string]func() kit.Kit{
			"offline": func() kit.Kit { return baselinestest.OfflineKit(t) },
			"model": func() kit.Kit {
				return baselinestest.ModelKit(t, llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient))
			},
		} {
			t.Run(x.Name+"/"+kind, func(t *testing.T) {
				s := check.Of(x.New(k(), kit.Common{})).OK(t)
				n := questions
				if kind != "offline" {
					n = max(8, questions/4)
				}
				baselinestest.Leaks(t, s, n)
				check.OK(t, s.Close())
			})
		}
		if slices.Contains(baselinestest.Storable, x.Name) {
			t.Run(x.Name+"/store", func(t *testing.T) {
				s := baselinestest.InStore(t, x.New, inStore)
				baselinestest.Leaks(t, s, questions)
				check.OK(t, s.Close())
			})
		}
	}
}

var errFault = errors.New("a fault on purpose")

// faults break one part of a kit, and record whether it was used.
type faults struct {
	part string
	met  bool
}

func (f *faults) at(part string) error {
	if f.part != part {
		return nil
	}
	f.met = true
	return errFault
}

// in returns a kit with the faulty parts.
func (f *faults) in(k kit.Kit) kit.Kit {
	breaking := func(own func() (kit.Extraction, error)) func() (kit.Extraction, error) {
		return func() (kit.Extraction, error) {
			x, err := own()
			x.Extractor = faulty{x.Extractor, f}
			return x, err
		}
	}
	records, own := k.Records, k.Find
	k.Entities, k.Triples = breaking(k.Entities), breaking(k.Triples)
	k.Records = func(o extract.RecordOptions) (kit.Extraction, error) {
		return breaking(func() (kit.Extraction, error) { return records(o) })()
	}
	k.Find = func(ctx context.Context, fitted func(context.Context) (embed.Embedder, error), texts text.List) (retrieve.Texts, error) {
		if err := f.at("look-up"); err != nil {
			return nil, err
		}
		return own(ctx, fitted, texts)
	}
	return k
}

type faulty struct {
	extract.Extractor
	f *faults
}

func (x faulty) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	if err := x.f.at("extractor"); err != nil {
		return nil, err
	}
	return x.Extractor.Extract(ctx, chunks)
}

// Every system that is built in a store from the replies of three shares finds the same as one built by one
// process, also when it is opened, and no reply is requested twice.
func TestShares(t *testing.T) {
	var docs []graphrag.Document
	for i := range 24 {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("d%02d", i), Title: fmt.Sprintf("Log %d", i),
			Text: fmt.Sprintf("AAA sailed ship %d with BBB in 19%02d. The ship was built by carpenter %d, who went to sea %d times.", i%7, i, i, i*i)})
	}
	for _, system := range systems(t) {
		t.Run(system.Name, func(t *testing.T) {
			build := func(m *llmtest.Script) *kit.System {
				return check.Of(system.New(baselinestest.ModelKit(t, m), kit.Common{})).OK(t)
			}
			find := func(s *kit.System) graphrag.Found {
				defer s.Close()
				return check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: "Who built ship 3?", K: 3})).OK(t)
			}
			model := func() *llmtest.Script {
				return llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
			}
			alone := build(model())
			check.OK(t, check.Err(alone.Index(t.Context(), graphrag.Documents(docs...))))

			st := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
			defer st.Close()
			m := model()
			x := check.Of(index.Open(t.Context(), index.Options{Store: st, Name: "job", System: func() (*kit.System, error) { return build(m), nil }})).OK(t)
			defer x.Close()
			check.OK(t, check.Err(x.Put(t.Context(), graphrag.Documents(docs...))))
			p := index.Progress{Shares: 3}
			for shares := p.Next(); shares != nil; shares = p.Next() {
				for _, s := range shares {
					done := check.Of(x.Do(t.Context(), s)).OK(t)
					p.Add(done)
				}
				check.Must(t, p.Round <= 20, "no end: %+v", p)
			}
			asked := m.Calls()
			open := func() *kit.System { return check.Of(kit.Open(t.Context(), build(m).Frame(), st, "index")).OK(t) }
			together := open()
			check.OK(t, check.Err(x.Build(t.Context(), together)))
			opened := open()
			check.Equal(t, m.Calls(), asked, "%d replies were missing after %d rounds and when it was opened", m.Calls()-asked, p.Round)
			times := make(map[string]int)
			for _, r := range m.Requests() {
				key := check.Of(json.Marshal(r)).OK(t)
				if times[string(key)]++; times[string(key)] == 2 {
					t.Errorf("asked twice: %.300s", key)
				}
			}
			want := find(alone)
			for _, s := range []*kit.System{together, opened} {
				check.Equal(t, find(s), want, "(-alone +together)")
			}
		})
	}
}

// A system whose model fails for every chunk reports it, in whatever way the model fails: an empty graph is
// always reported, and names in the prompts' own examples are not taken from the corpus.
func TestFailingModelIsCounted(t *testing.T) {
	docs := []graphrag.Document{
		{ID: "a", Text: "The Fram was built by Colin Archer for Fridtjof Nansen."},
		{ID: "b", Text: "Roald Amundsen sailed the Fram to the Bay of Whales."},
	}
	for kind, m := range map[string]*llmtest.Script{
		"refused":   llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrRefused}),
		"filtered":  llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrFiltered}),
		"truncated": llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrTruncated}),
		"empty":     llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrEmpty}),
		"garbage":   llmtest.NewScript("m").Reply(llmtest.Any, "I am sorry, I cannot do that."),
		"echo": llmtest.NewScript("m").Handle(llmtest.Any, func(r llm.Request) llm.Reply {
			return llm.Reply{Text: r.Messages[0].Text}
		}),
	} {
		for _, system := range systems(t) {
			s := check.Of(system.New(baselinestest.ModelKit(t, m), kit.Common{})).OK(t)
			stats := check.Of(s.Index(t.Context(), graphrag.Documents(docs...))).OK(t, "%s, %s", system.Name, kind)
			if system.Calls.Chunk == 0 { // no model reads the chunks of this system
				continue
			}
			want := graphrag.Stage{Name: "extract", Asked: 2, Failed: 2}
			if kind == "refused" || kind == "filtered" {
				want.Refused = 2
			}
			check.True(t, stats.Entities == 0 && len(stats.Stages) != 0 && stats.Stages[0] == want,
				"%s, %s: %d entities, stages %+v, want %+v", system.Name, kind, stats.Entities, stats.Stages, want)
		}
	}
}

// All calls of a kind have the same beginning: whatever differs, such as the code of the marks, is in the
// user's message, so that a provider can cache the beginning.
func TestPromptsBeginAlike(t *testing.T) {
	var docs []graphrag.Document
	for _, text := range []string{"The Fram was built by Colin Archer.", "Roald Amundsen went to the Bay of Whales.", "Fridtjof Nansen came to Svalbard."} {
		docs = append(docs, graphrag.Document{ID: text[:5], Text: text})
	}
	for _, system := range systems(t) {
		m := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
		s := check.Of(system.New(baselinestest.ModelKit(t, m), kit.Common{})).OK(t)
		baselinestest.Index(t, s, docs...)
		for _, q := range []string{"Who built the Fram?", "Who went to the Bay of Whales?"} {
			check.OK(t, check.Err(s.Answer(t.Context(), graphrag.Question{Text: q, K: 2})))
		}
		begins := make(map[string]string)
		for _, r := range m.Requests() {
			first := r.Messages[0]
			kind := r.Stage // calls about passages and about questions
			if strings.Contains(r.Messages[len(r.Messages)-1].Text, " question]") {
				kind += " question"
			}
			if old, ok := begins[kind]; ok && old != first.Text && first.Role == llm.System {
				t.Errorf("%s, %s: begins with\n%s\nand with\n%s", system.Name, kind, old, first.Text)
			}
			begins[kind] = first.Text
		}
	}
}

// life returns what a system answers after Index, Insert and Delete.
func life(ctx context.Context, k kit.Kit, of all.System) ([]graphrag.Answer, *kg.Graph, error) {
	s, err := of.New(k, kit.Common{})
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	pages := baselinestest.Pages
	var out []graphrag.Answer
	var first *kg.Graph
	for _, change := range []func() (graphrag.IndexStats, error){
		func() (graphrag.IndexStats, error) { return s.Index(ctx, graphrag.Documents(pages[:4]...)) },
		func() (graphrag.IndexStats, error) { return s.Insert(ctx, graphrag.Documents(pages[4])) },
		func() (graphrag.IndexStats, error) { return s.Delete(ctx, pages[0].ID) },
	} {
		if _, err := change(); err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = s.Graph()
		}
		for _, q := range []string{"Who built the Fram?", "Which ships sailed to Antarctica?", "What raises the tides?"} {
			a, err := s.Answer(ctx, graphrag.Question{Text: q, K: 3})
			if err != nil {
				return nil, nil, err
			}
			out = append(out, a)
		}
	}
	return out, first, nil
}

// Systems that share what they compute from documents answer as if each was alone, also when all are built at
// once.
func TestShared(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	sharing := slices.DeleteFunc(systems(t), func(s all.System) bool { return s.NoDocuments })
	graphs := make(map[string]*kg.Graph)
	var mu sync.Mutex
	var built sync.WaitGroup
	ctx := memo.With(t.Context())
	for _, s := range sharing {
		built.Go(func() {
			alone, _, err1 := life(t.Context(), k, s)
			shared, graph, err2 := life(ctx, k, s)
			if err1 != nil || err2 != nil {
				t.Errorf("%s: %v, %v", s.Name, err1, err2)
			} else if diff := cmp.Diff(alone, shared); diff != "" {
				t.Errorf("%s answers otherwise with others (-alone +shared):\n%s", s.Name, diff)
			}
			mu.Lock()
			defer mu.Unlock()
			graphs[s.Name] = graph
		})
	}
	built.Wait()
	for _, same := range [][2]string{{"lightrag", "lightrag-mix"}, {"msgraphrag-local", "msgraphrag-drift"}, {"hipporag", "hipporag2"}} {
		check.True(t, graphs[same[0]] != nil && graphs[same[0]] == graphs[same[1]], "%v do not share their graph", same)
	}
}

// limited is a system that is asked under a condition and a scope.
type limited struct {
	graphrag.System
	where, scope string
}

func (l limited) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	if l.where != "" {
		c, err := graphrag.ParseCondition(l.where)
		if err != nil {
			return graphrag.Answer{}, err
		}
		q.Where = &c
	}
	if l.scope != "" {
		c, err := graphrag.ParseCondition(l.scope)
		if err != nil {
			return graphrag.Answer{}, err
		}
		ctx = graphrag.WithScope(ctx, c)
	}
	return l.System.Answer(ctx, q)
}

// sees compares answers under a condition and a scope with those of a system over the permitted documents only,
// and looks for a word that only other documents have.
func (make maker) sees(t *testing.T) {
	var pages []graphrag.Document
	for i, p := range baselinestest.Pages {
		p.Text += fmt.Sprintf(" The %s is kept in the vault of Larvik.", canary(i))
		p.Fields = graphrag.Fields{"team": string(rune('a' + i%2)), "year": float64(2019 + i), "tags": []string{"all", p.Title}}
		if i == 4 {
			delete(p.Fields, "team")
		}
		pages = append(pages, p)
	}
	for _, tt := range []struct {
		where, scope string
		seen         []int
	}{
		{`team = "a"`, "", []int{0, 2}},
		{"", `team = "b"`, []int{1, 3}},
		{`year >= 2020 and not (tags has "Tides")`, `team in ("a", "b")`, []int{1, 2, 3}},
		{`not (team = "a")`, "", []int{1, 3, 4}},
		{`year = 1900`, "", nil},
		{`team = "a"`, `team = "b"`, nil},
		{`year > 0`, "", []int{0, 1, 2, 3, 4}},
	} {
		permitted := []graphrag.Document{}
		for _, i := range tt.seen {
			permitted = append(permitted, pages[i])
		}
		obedient := func() kit.Kit {
			return baselinestest.ModelKit(t, llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient))
		}
		for name, k := range map[string]func() kit.Kit{"offline": func() kit.Kit { return baselinestest.OfflineKit(t) }, "model": obedient} {
			if name == "model" && tt.seen != nil && tt.seen[0] == 1 {
				continue // two conditions suffice for slow systems
			}
			s := limited{make.over(t, k(), pages...), tt.where, tt.scope}
			if _, err := s.Answer(t.Context(), baselinestest.Questions[0]); err != nil { // builds the view of the permitted documents
				t.Fatal(err)
			}
			got, want := answers(t, s), answers(t, make.over(t, k(), permitted...))
			check.Equal(t, cmp.Diff(want, got, cmpopts.IgnoreFields(graphrag.Found{}, "Usage")), "",
				"%s, where %s, scope %s (-over the permitted +limited):\n", name, tt.where, tt.scope)
			for i := range pages {
				check.True(t, !strings.Contains(fmt.Sprintf("%+v", got), canary(i)) || slices.Contains(tt.seen, i),
					"%s, where %s, scope %s: an answer has words of %s", name, tt.where, tt.scope, pages[i].ID)
			}
		}
	}
}

func canary(i int) string { return fmt.Sprintf("Zorgblat%c", 'A'+i) }
