// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

func openJournal(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, journal.Header{Schema: paid.Schema}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func cache(t *testing.T, m llm.Model, j *journal.Journal, o paid.CacheOptions) llm.Model {
	t.Helper()
	c, err := paid.Cached(m, j, o)
	if err != nil {
		t.Fatal(err)
	}
	return llm.Metered(c)
}

func TestCachedConforms(t *testing.T) {
	j := openJournal(t, filepath.Join(t.TempDir(), "j"))
	llmtest.TestModel(t, cache(t, llmtest.NewScript("m"), j, paid.CacheOptions{}))
	b, err := paid.NewBudget(100_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	llmtest.TestModel(t, b.Model(llmtest.NewScript("m")))
}

func TestCachedPaysOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	script := llmtest.NewScript("m")
	j := openJournal(t, path)
	c := cache(t, script, j, paid.CacheOptions{})
	ctx, meter := llm.WithMeter(t.Context())
	first, err := c.Generate(ctx, llm.Prompt("a"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(c llm.Model) {
		t.Helper()
		again, err := c.Generate(ctx, llm.Prompt("a"))
		if err != nil || again.Text != first.Text || again.Usage != (llm.Usage{CachedCalls: 1}) {
			t.Errorf("%+v, %v", again, err)
		}
	}
	check(c)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	check(cache(t, script, openJournal(t, path), paid.CacheOptions{}))
	if script.Calls() != 1 {
		t.Errorf("%d calls", script.Calls())
	}
	if u := meter.Usage(); u.Calls != 1 || u.CachedCalls != 2 || u.PromptTokens != first.Usage.PromptTokens {
		t.Errorf("metered %+v", u)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("cache mode %v, %v", info.Mode(), err)
	}
}

// With PaidUsage a hit says what the call behind it cost, to meters too.
func TestPaidUsage(t *testing.T) {
	j := openJournal(t, filepath.Join(t.TempDir(), "j"))
	c := cache(t, llmtest.NewScript("m"), j, paid.CacheOptions{PaidUsage: true})
	ctx, meter := llm.WithMeter(t.Context())
	first, err := c.Generate(ctx, llm.Prompt("a"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Generate(ctx, llm.Prompt("a"))
	if err != nil || again.Usage != first.Usage || first.Usage.Calls != 1 {
		t.Errorf("first %+v, again %+v, %v", first.Usage, again.Usage, err)
	}
	if u := meter.Usage(); u != first.Usage.Add(first.Usage) {
		t.Errorf("metered %+v", u)
	}
}

// requestFields says for every field of Request whether it belongs to the
// cache key. A new field fails the test until somebody has decided.
var requestFields = map[string]bool{
	"Messages": true, "Schema": true, "SchemaName": true, "JSON": true, "MaxTokens": true,
	"Temperature": true, "TopP": true, "Seed": true, "Stop": true, "Sample": true,
	"Stage": false, "Question": false,
}

func TestCacheKeyCoversEveryField(t *testing.T) {
	base := llm.Prompt("base")
	variants := map[string][]llm.Request{}
	vary := func(name string, values ...any) {
		for _, v := range values {
			req := base
			reflect.ValueOf(&req).Elem().FieldByName(name).Set(reflect.ValueOf(v))
			variants[name] = append(variants[name], req)
		}
	}
	ptr := func(f float64) *float64 { return &f }
	seed := func(n int64) *int64 { return &n }
	vary("Messages", []llm.Message{{Role: llm.System, Text: "base"}}, []llm.Message{{Role: llm.User, Text: "other"}},
		[]llm.Message{{Role: llm.User, Text: "base"}, {Role: llm.User, Text: ""}})
	vary("Schema", json.RawMessage(`{"type":"object"}`), json.RawMessage(`{"type":"object","minProperties":1}`))
	vary("SchemaName", "x")
	vary("JSON", true)
	vary("MaxTokens", 1, 2)
	vary("Temperature", ptr(0), ptr(0.7)) // absent is not zero
	vary("TopP", ptr(0), ptr(1))
	vary("Seed", seed(0), seed(1))
	vary("Stop", []string{"a"}, []string{"a", "b"}, []string{"b", "a"})
	vary("Sample", 1, 2)
	vary("Stage", "s")
	vary("Question", "q")

	script := llmtest.NewScript("m")
	c := cache(t, script, openJournal(t, filepath.Join(t.TempDir(), "j")), paid.CacheOptions{})
	ask := func(req llm.Request) bool {
		before := script.Calls()
		if _, err := c.Generate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		return script.Calls() > before
	}
	ask(base)
	typ := reflect.TypeFor[llm.Request]()
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		inKey, classified := requestFields[name]
		if !classified || len(variants[name]) == 0 {
			t.Errorf("Request.%s is not classified: add it to requestFields, to the variants above and, if the model sees it, to the key", name)
			continue
		}
		for _, req := range variants[name] {
			if asked := ask(req); asked != inKey {
				t.Errorf("Request.%s: the model was asked: %v, want %v (%+v)", name, asked, inKey, req)
			}
		}
	}
	if ask(llm.Request{Messages: base.Messages, Schema: json.RawMessage(` { "type" : "object" } `)}) {
		t.Error("blanks in a schema change the key")
	}
	other := cache(t, llmtest.NewScript("other"), openJournal(t, filepath.Join(t.TempDir(), "k")), paid.CacheOptions{})
	if reply, err := other.Generate(t.Context(), base); err != nil || reply.Usage.Calls != 1 {
		t.Error("another model's reply was served")
	}
}

func TestModelsShareAJournalWithoutMixing(t *testing.T) {
	j := openJournal(t, filepath.Join(t.TempDir(), "j"))
	a := llmtest.NewScript("a").Reply(llmtest.Any, "from a")
	b := llmtest.NewScript("b").Reply(llmtest.Any, "from b")
	for range 2 {
		for _, m := range []llm.Model{a, b} {
			reply, err := cache(t, m, j, paid.CacheOptions{}).Generate(t.Context(), llm.Prompt("q"))
			if err != nil || reply.Text != "from "+m.Name() {
				t.Errorf("%s: %+v, %v", m.Name(), reply, err)
			}
		}
	}
	if a.Calls()+b.Calls() != 2 {
		t.Errorf("%d calls", a.Calls()+b.Calls())
	}
}

// slow is a model that waits for a signal.
type slow struct {
	llm.Model
	start chan struct{}
	gate  chan struct{}
}

func (s slow) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	s.start <- struct{}{}
	select {
	case <-s.gate:
	case <-ctx.Done():
		return llm.Reply{}, llm.Canceled(ctx, llm.BilledUnknown)
	}
	return s.Model.Generate(ctx, req)
}

func TestSingleFlight(t *testing.T) {
	script := llmtest.NewScript("m")
	s := slow{script, make(chan struct{}, 99), make(chan struct{})}
	c := cache(t, s, openJournal(t, filepath.Join(t.TempDir(), "j")), paid.CacheOptions{})

	// The first asker gives up; the others must still get their answer.
	ctx, cancel := context.WithCancel(t.Context())
	quit := make(chan error, 1)
	go func() {
		_, err := c.Generate(ctx, llm.Prompt("q"))
		quit <- err
	}()
	<-s.start
	var mu sync.Mutex
	var sum llm.Usage
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			reply, err := c.Generate(t.Context(), llm.Prompt("q"))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			sum = sum.Add(reply.Usage)
		})
	}
	time.Sleep(5 * time.Millisecond) // let them queue up; nothing depends on it
	cancel()
	if err := <-quit; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	close(s.gate)
	wg.Wait()
	if script.Calls() != 1 || sum.Calls != 1 || sum.CachedCalls != 9 {
		t.Errorf("%d calls, usage %+v", script.Calls(), sum)
	}
}

func TestFailuresAreKeptApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	asJSON := llm.Prompt("broken")
	asJSON.JSON = true
	script := llmtest.NewScript("m").
		Reply(llmtest.Contains("broken"), "no JSON", `{"a":1}`).
		Fail(llmtest.Contains("filtered"), &llm.Error{Kind: llm.ErrFiltered, Billed: llm.BilledYes, Usage: llm.Usage{Calls: 1, PromptTokens: 9}}).
		Fail(llmtest.Contains("flaky"), &llm.Error{Kind: llm.ErrTransient})
	j := openJournal(t, path)
	c := cache(t, script, j, paid.CacheOptions{})
	ask := func(c llm.Model, text string) error {
		_, err := c.Generate(t.Context(), llm.Prompt(text))
		return err
	}
	var e *llm.Error
	if err := ask(c, "filtered"); !errors.As(err, &e) || e.Usage.PromptTokens != 9 {
		t.Errorf("first: %v", err)
	}
	if err := ask(c, "filtered"); !errors.As(err, &e) || e.Kind != llm.ErrFiltered || e.Usage != (llm.Usage{CachedCalls: 1}) {
		t.Errorf("second: %v", err)
	}
	for range 2 {
		if err := ask(c, "flaky"); !errors.Is(err, llm.ErrTransient) {
			t.Error(err)
		}
		if reply, err := c.Generate(t.Context(), asJSON); err != nil || reply.Text != "no JSON" {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	if script.Calls() != 4 { // filtered 1, flaky 2, broken 1
		t.Errorf("%d calls", script.Calls())
	}
	_ = j.Close()
	j = openJournal(t, path)
	if err := ask(cache(t, script, j, paid.CacheOptions{}), "filtered"); !errors.Is(err, llm.ErrFiltered) || script.Calls() != 4 {
		t.Errorf("after a restart: %v, %d calls", err, script.Calls())
	}
	again := cache(t, script, j, paid.CacheOptions{RetryFailures: true})
	if err := ask(again, "filtered"); !errors.Is(err, llm.ErrFiltered) || script.Calls() != 5 {
		t.Errorf("asking again: %v, %d calls", err, script.Calls())
	}
	if reply, err := again.Generate(t.Context(), asJSON); err != nil || reply.Text != `{"a":1}` {
		t.Errorf("%+v, %v", reply, err)
	}
	_ = j.Close()
	// The later success counts, whatever came before it.
	j = openJournal(t, path)
	if reply, err := cache(t, script, j, paid.CacheOptions{}).Generate(t.Context(), asJSON); err != nil || reply.Text != `{"a":1}` {
		t.Errorf("%+v, %v", reply, err)
	}
}

// What was paid for and would come again is kept; what was not, or may pass, is
// asked for again.
func TestLastingFailures(t *testing.T) {
	for kind, kept := range map[llm.Kind]bool{
		llm.ErrFiltered: true, llm.ErrRefused: true, llm.ErrTruncated: true, llm.ErrInvalidOutput: true,
		llm.ErrEmpty: false, llm.ErrTimeout: false, llm.ErrContextLength: false,
	} {
		for billed, kept := range map[llm.Billed]bool{llm.BilledYes: kept, llm.BilledNo: false, llm.BilledUnknown: false} {
			script := llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: kind, Billed: billed})
			c := cache(t, script, openJournal(t, filepath.Join(t.TempDir(), "j")), paid.CacheOptions{})
			want := 2
			if kept {
				want = 1
			}
			for range 2 {
				if _, err := c.Generate(t.Context(), llm.Prompt("x")); !errors.Is(err, kind) {
					t.Error(err)
				}
			}
			if script.Calls() != want {
				t.Errorf("%s, billed %q: %d calls, want %d", kind, billed, script.Calls(), want)
			}
		}
	}
}

func TestUnkeptReplyIsAnError(t *testing.T) {
	j := openJournal(t, filepath.Join(t.TempDir(), "j"))
	c := cache(t, llmtest.NewScript("m"), j, paid.CacheOptions{})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Generate(t.Context(), llm.Prompt("q")); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("a reply that is not on disk was acknowledged: %v", err)
	}
}

// counter is an embedder that counts texts.
type counter struct {
	mu    sync.Mutex
	texts []string
}

func (c *counter) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts = append(c.texts, texts...)
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = llmtest.HashVector(t, 8)
	}
	return out, nil
}

func (c *counter) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := c.EmbedDocuments(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

func TestCachedEmbedder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := openJournal(t, path)
	inner := &counter{}
	open := func(name string) llm.Embedder {
		t.Helper()
		e, err := paid.CachedEmbedder(name, inner, j)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open("e")
	llmtest.TestEmbedder(t, e)
	inner.texts = nil
	texts := make([]string, 700)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i%650)
	}
	first, err := e.EmbedDocuments(t.Context(), texts)
	if err != nil || len(inner.texts) != 650 {
		t.Fatalf("%d texts embedded, %v", len(inner.texts), err)
	}
	_ = j.Close()
	j = openJournal(t, path)
	second, err := open("e").EmbedDocuments(t.Context(), texts)
	if err != nil || len(inner.texts) != 650 {
		t.Fatalf("%d texts embedded after a restart, %v", len(inner.texts), err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	second[0][0] = 99
	if third, _ := open("e").EmbedDocuments(t.Context(), texts[:1]); slices.Equal(third[0], second[0]) {
		t.Error("the cache hands out its own memory")
	}
	if _, err := open("other").EmbedDocuments(t.Context(), texts[:1]); err != nil || len(inner.texts) != 651 {
		t.Errorf("another name: %d texts, %v", len(inner.texts), err)
	}
	if _, err := paid.CachedEmbedder("", inner, j); err == nil {
		t.Error("an empty name was accepted")
	}
}
