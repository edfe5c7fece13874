// SPDX-License-Identifier: Apache-2.0

package index_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// ships are documents of one chunk each, whose names hang together.
func ships(n int) []graphrag.Document {
	docs := make([]graphrag.Document, n)
	for i := range docs {
		docs[i] = graphrag.Document{ID: fmt.Sprintf("log%03d.md", i), Title: fmt.Sprintf("Log %d", i),
			Text: fmt.Sprintf("Captain Arne%d sailed the ship Fram%d from Oslo%d to Tromso%d.", i, i%7, i%3, i%5)}
	}
	return docs
}

// scribe is a model that says what the sentence says, and counts how often it is asked
// the same.
type scribe struct {
	mu    sync.Mutex
	asked map[string]int
	after func(n int) // called with the number of replies
	n     atomic.Int32
}

func (*scribe) Name() string { return "scribe" }

func (s *scribe) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, llm.Canceled(ctx, llm.BilledNo)
	}
	s.mu.Lock()
	if s.asked == nil {
		s.asked = make(map[string]int)
	}
	text := fmt.Sprint(req.Messages)
	s.asked[text]++
	s.mu.Unlock()
	defer func() {
		if n := s.n.Add(1); s.after != nil {
			s.after(int(n))
		}
	}()
	return llm.Reply{Text: says(req), Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1, PromptTokens: len(text), CompletionTokens: 7}}, nil
}

// says answers the prompts of records and of reports.
func says(req llm.Request) string {
	last := req.Messages[len(req.Messages)-1].Text
	if strings.Contains(req.Stage, "report") {
		return fmt.Sprintf(`{"title":"Ships of %d letters","summary":"They sail.","rating":5,"rating_explanation":"many","findings":[{"summary":"They sail.","explanation":"So the logs say."}]}`, len(last))
	}
	words := strings.Fields(last[strings.LastIndex(last, "Captain"):])
	captain, ship, port := words[1], words[5], words[7]
	return fmt.Sprintf(`("entity"<|>%[1]s<|>person<|>A captain.)##("entity"<|>%[2]s<|>ship<|>The ship of %[1]s.)##("entity"<|>%[3]s<|>place<|>A port.)##("relationship"<|>%[1]s<|>%[2]s<|>%[1]s sailed her.<|>5)##("relationship"<|>%[2]s<|>%[3]s<|>She lay there.<|>2)<|COMPLETE|>`, captain, ship, port)
}

// hashes is an embedder.
type hashes struct{ calls *atomic.Int32 }

func (hashes) Name() string { return "hashes" }

func (h hashes) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	h.calls.Add(1)
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = llmtest.HashVector(t, 8)
	}
	return out, nil
}

func (h hashes) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return llmtest.HashVector(text, 8), nil
}

// open opens an index in a folder, and says how to close it.
func open(t *testing.T, dir string, o index.Options) (_ *index.Index, end func()) {
	t.Helper()
	s, err := disk.Open(dir, disk.Options{})
	texttest.OK(t, err)
	o.Store, o.Name = s, "logs"
	x, err := index.Open(t.Context(), o)
	texttest.OK(t, err)
	return x, func() {
		if err := errors.Join(x.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
}

// exported are the files of the published index.
func exported(t *testing.T, dir string) map[string]string {
	t.Helper()
	s, err := disk.Open(dir, disk.Options{})
	texttest.OK(t, err)
	defer s.Close()
	c, err := s.Open(t.Context(), "logs")
	texttest.OK(t, err)
	g, err := c.Pin(t.Context())
	texttest.OK(t, err)
	defer g.Close()
	out := t.TempDir()
	texttest.OK(t, store.Export(t.Context(), out, c.Schema(), g))
	files := make(map[string]string)
	root := os.DirFS(out)
	names, err := fs.Glob(root, "*")
	for _, name := range names {
		data, readErr := fs.ReadFile(root, name)
		files[name], err = string(data), errors.Join(err, readErr)
	}
	texttest.OK(t, err)
	return files
}

func run(t *testing.T, ctx context.Context, x *index.Index, docs []graphrag.Document, o index.RunOptions) (index.Progress, error) {
	t.Helper()
	job, err := x.Submit(t.Context(), graphrag.Documents(docs...))
	texttest.OK(t, err)
	return index.Run(ctx, x, job, o)
}

// A run that is stopped again and again asks for nothing twice, and ends with the bytes
// and the cost of one in one go, whatever the concurrency.
func TestStoppedRuns(t *testing.T) {
	docs := ships(12)
	var calls atomic.Int32
	options := func(m llm.Model) index.Options {
		return index.Options{Knowledge: index.Records, Model: m, Reports: true, Embedder: hashes{&calls}, Dim: 8, Batch: 3}
	}
	one, dir := &scribe{}, t.TempDir()
	x, end := open(t, dir, options(one))
	whole, err := run(t, t.Context(), x, docs, index.RunOptions{Limits: map[string]index.Limit{index.Chat: {Concurrent: 1}}})
	texttest.OK(t, err)
	end()
	s := whole.Stages
	if n := slices.IndexFunc(s, func(p index.StageProgress) bool { return p.Name == index.Reports }); s[n].Items == 0 || s[n].Usage.Calls != s[n].Items || s[n].Tasks != s[n-1].Items {
		t.Errorf("reports: %+v of %+v", s[n], s[n-1]) // of so few communities each is a task
	}

	many, dir2 := &scribe{}, t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	for stops := 0; ; stops++ {
		ctx, stop := context.WithCancel(t.Context())
		limit := many.n.Load() + 1 + rng.Int32N(3)
		many.after = func(n int) {
			if n >= int(limit) {
				stop()
			}
		}
		x, end := open(t, dir2, options(many))
		last, err := run(t, ctx, x, docs, index.RunOptions{})
		stop()
		end()
		if err == nil {
			if diff := cmp.Diff(whole, last); diff != "" || stops < 3 {
				t.Errorf("stopped %d times (-one +many):\n%s", stops, diff)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(one.asked, many.asked); diff != "" {
		t.Errorf("asked (-one +many):\n%s", diff)
	}
	if diff := cmp.Diff(exported(t, dir), exported(t, dir2)); diff != "" {
		t.Errorf("indexes (-one +many):\n%s", diff)
	}
}

// Of a corpus that has changed only what is new is asked about, and a system of the
// same parts asks for nothing at all.
func TestOnlyWhatIsNew(t *testing.T) {
	m := &scribe{}
	x, end := open(t, t.TempDir(), index.Options{Knowledge: index.Records, Model: m, Batch: 4})
	defer end()
	docs := ships(10)
	if _, err := run(t, t.Context(), x, docs, index.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	before := m.n.Load()
	docs[3].Text = "Captain Nils sailed the ship Gjoa from Oslo1 to Tromso1."
	docs = append(docs[1:], graphrag.Document{ID: "new.md", Text: "Captain Pia sailed the ship Maud from Oslo1 to Tromso1."})
	job, err := x.Submit(t.Context(), graphrag.Documents(docs...))
	texttest.OK(t, err)
	p, err := index.Run(t.Context(), x, job, index.RunOptions{})
	texttest.OK(t, err)
	if n := m.n.Load() - before; n != 2 || p.Stages[2].Usage.Calls != 10 {
		t.Errorf("%d new calls, %+v", n, p.Stages[2])
	}

	k, err := kit.ByModel(kit.ModelOptions{Model: x.Model()})
	texttest.OK(t, err)
	f := kit.Frame{Name: "system", Kit: k, Build: func(_ context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		return retrieve.NewSparse(t.Context(), c.Chunks, bm25.Options{})
	}}
	f.ExtractBy(nil, k.RecordsFor(extract.RecordOptions{}))
	system, err := kit.New(f)
	texttest.OK(t, err)
	stats, err := system.Index(t.Context(), graphrag.Documents(docs...))
	if n := m.n.Load() - before; err != nil || n != 2 || stats.Entities != p.Stages[4].Items-2*len(docs) {
		t.Errorf("%d new calls, %d entities, %+v, %v", n, stats.Entities, p.Stages[4], err)
	}
	if doubtful, err := x.Doubtful(t.Context()); err != nil || len(doubtful) != 0 {
		t.Errorf("%+v, %v", doubtful, err)
	}
}

// Without a model, rules see all chunks at once.
func TestOffline(t *testing.T) {
	dir := t.TempDir()
	x, end := open(t, dir, index.Options{Knowledge: index.Triples, Reports: true})
	var names []string
	for _, s := range x.Plan() {
		if s.Barrier {
			s.Name += "!"
		}
		names = append(names, s.Name+s.Endpoint)
	}
	if diff := cmp.Diff([]string{"documents", "cut", "write", "extract!", "graph!", "communities!", "reports", "publish!"}, names); diff != "" {
		t.Error(diff)
	}
	var docs []graphrag.Document
	for i, place := range []string{"Antarctica", "Greenland", "Spitsbergen"} {
		docs = append(docs, graphrag.Document{ID: fmt.Sprint(i), Text: "Roald Amundsen sailed the Fram to " + place + ". Otto Sverdrup commanded the Fram in " + place + "."})
	}
	p, err := run(t, t.Context(), x, docs, index.RunOptions{})
	texttest.OK(t, err)
	end()
	files := exported(t, dir)
	if n := strings.Count(files["chunks.records.jsonl"], "\n"); n != len(docs) || p.Stages[2].Items != n {
		t.Errorf("%d chunks, %+v", n, p.Stages)
	}
	for _, table := range []string{"entities.records.jsonl", "reports.records.jsonl", "triples.jsonl"} {
		if !strings.Contains(files[table], "Amundsen") {
			t.Errorf("%s knows nothing of Amundsen: %.300s", table, files[table])
		}
	}
}

// flaky fails with what it is told to, then does nothing well.
type flaky struct {
	errs  []error
	tried int
}

func (f *flaky) Do(context.Context, index.Task) (index.Done, error) {
	f.tried++
	if f.tried <= len(f.errs) {
		return index.Done{}, f.errs[f.tried-1]
	}
	return index.Done{}, nil
}

// What may pass is tried again, what will not is not.
func TestRetries(t *testing.T) {
	wait := &llm.Error{Kind: llm.ErrRateLimited, RetryAfter: time.Millisecond}
	for _, tt := range []struct {
		errs  []error
		tried int
		ok    bool
	}{
		{[]error{wait, fmt.Errorf("x: %w", store.ErrUnavailable), &store.ThrottledError{After: time.Millisecond}}, 4, true},
		{[]error{wait, &llm.Error{Kind: llm.ErrAuth}}, 2, false},
		{[]error{wait, wait, wait, wait, wait}, 5, false},
		{[]error{store.ErrMismatch}, 1, false},
	} {
		f := &flaky{errs: tt.errs}
		_, err := index.Run(t.Context(), f, index.Job{Plan: index.Plan{{Name: "x", Barrier: true}}}, index.RunOptions{Pause: time.Microsecond})
		if f.tried != tt.tried || (err == nil) != tt.ok {
			t.Errorf("%v: tried %d times, %v", tt.errs, f.tried, err)
		}
	}
	if again, after := index.Retry(fmt.Errorf("x: %w", wait)); !again || after != time.Millisecond {
		t.Error(again, after)
	}
}

// rounds hands on two rounds, and notes the order of its tasks.
type rounds struct {
	mu  sync.Mutex
	saw []string
	at  int32
	max int32
}

func (r *rounds) Do(_ context.Context, t index.Task) (index.Done, error) {
	if n := atomic.AddInt32(&r.at, 1); n > atomic.LoadInt32(&r.max) {
		atomic.StoreInt32(&r.max, n)
	}
	time.Sleep(time.Millisecond)
	atomic.AddInt32(&r.at, -1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saw = append(r.saw, t.Stage+t.Batch.Ref[:1])
	if t.Stage == "split" {
		return index.Done{Next: [][]index.Batch{{{Ref: "a1"}, {Ref: "a2"}, {Ref: "a3"}}, {{Ref: "b1"}, {Ref: "b2"}}}}, nil
	}
	return index.Done{}, nil
}

// A barrier waits for all, and a round for the one before; limits hold.
func TestBarriers(t *testing.T) {
	plan := index.Plan{{Name: "split", Barrier: true}, {Name: "work", Endpoint: index.Chat}, {Name: "end", Barrier: true}}
	r := &rounds{}
	p, err := index.Run(t.Context(), r, index.Job{Plan: plan, Root: index.Batch{Ref: "root"}}, index.RunOptions{Limits: map[string]index.Limit{index.Chat: {Concurrent: 2, PerSecond: 1000}}})
	if err != nil || r.max > 2 || p.Stages[1].Done != 5 || p.Stages[1].Tasks != 5 {
		t.Errorf("%v, %d at a time, %+v", err, r.max, p)
	}
	if diff := cmp.Diff([]string{"splitr", "worka", "worka", "worka", "workb", "workb", "endr"}, r.saw); diff != "" {
		t.Error(diff)
	}
}

func TestOptions(t *testing.T) {
	_, err := index.Open(t.Context(), index.Options{Name: "No", Knowledge: "all", Batch: 101, Dim: 3})
	for _, want := range []string{"Store is missing", "No-work", "Knowledge is", "Batch is 101", "Dim is 3"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	x, end := open(t, t.TempDir(), index.Options{})
	defer end()
	if _, err := x.Submit(t.Context(), graphrag.Documents(append(ships(1), ships(1)...)...)); err == nil || !strings.Contains(err.Error(), "comes twice") {
		t.Error(err)
	}
	if _, err := x.Do(t.Context(), index.Task{Stage: index.Cut, Batch: index.Batch{Ref: strings.Repeat("0", 64)}}); err == nil || !strings.Contains(err.Error(), "submit the documents again") {
		t.Error(err)
	}
	if _, err := x.Do(t.Context(), index.Task{Stage: "boil"}); err == nil {
		t.Error("boiled")
	}
}

// A call that nobody knows the end of is listed until what it asked is kept; one that cost
// nothing is not.
func TestDoubtful(t *testing.T) {
	m := llmtest.NewScript("m").
		Fail(llmtest.Contains("lost"), &llm.Error{Kind: llm.ErrTimeout}).
		Fail(llmtest.Contains("free"), &llm.Error{Kind: llm.ErrAuth, Billed: llm.BilledNo}).
		Fail(llmtest.Contains("cut"), &llm.Error{Kind: llm.ErrTruncated, Billed: llm.BilledYes}).
		Reply(llmtest.Any, "yes")
	x, end := open(t, t.TempDir(), index.Options{Knowledge: index.Triples, Model: m})
	defer end()
	shared := x.Model()
	for _, text := range []string{"lost", "free", "cut", "cut", "fine", "fine"} {
		_, err := shared.Generate(t.Context(), llm.Prompt(text))
		if (err == nil) != (text == "fine") {
			t.Errorf("%s: %v", text, err)
		}
	}
	doubtful, err := x.Doubtful(t.Context())
	if err != nil || len(doubtful) != 1 || !strings.Contains(doubtful[0].Failed, "timeout") || doubtful[0].Process == "" || m.Calls() != 4 {
		t.Errorf("%+v, %v, %d calls", doubtful, err, m.Calls())
	}
}
