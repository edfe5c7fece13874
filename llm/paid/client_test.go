// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// file returns the name of a test's file of replies.
func file(t *testing.T) string { return filepath.Join(t.TempDir(), "replies") }

// open opens a client, which is closed at the end of the test if not before.
func open(t *testing.T, o paid.Options) *paid.Client {
	t.Helper()
	c := check.Of(paid.Open(o)).OK(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// cachedModel wraps a model.
func cachedModel(t *testing.T, c *paid.Client, m llm.Model) llm.Model {
	t.Helper()
	m = check.Of(c.Model(m)).OK(t)
	return m
}

// embedder wraps an embedder.
func embedder(t *testing.T, c *paid.Client, e llm.NamedEmbedder) llm.NamedEmbedder {
	t.Helper()
	e = check.Of(c.Embedder(e)).OK(t)
	return e
}

// big is a model whose calls use 1,000 and 100 tokens.
func big() *llmtest.Script {
	return llmtest.NewScript("big").Handle(llmtest.Any, func(llm.Request) llm.Reply {
		return llm.Reply{Text: "x", Usage: llm.Usage{PromptTokens: 1000, CompletionTokens: 100}}
	})
}

func ask(t *testing.T, m llm.Model, text string) error {
	_, err := m.Generate(t.Context(), llm.Prompt(text))
	return err
}

// Two runs share the replies; each has the account and the limits of its own starts.
func TestClientSharesRepliesBetweenRuns(t *testing.T) {
	script, vectors := big(), &counter{}
	o := paid.Options{File: filepath.Join(t.TempDir(), "new", "replies"), Run: "one", Prices: testPrices, Tokens: 6200}
	c := open(t, o)
	m, e := cachedModel(t, c, script), embedder(t, c, vectors)
	c.Probe()
	for range 2 {
		check.OK(t, errors.Join(check.Err(e.EmbedQuery(t.Context(), "a")), ask(t, m, "a")))
	}
	if a := c.Account(); script.Calls() != 2 || a.Total.Calls != 4 || a.Total.Usage.Tokens() != 2203 {
		t.Errorf("%d calls, %+v", script.Calls(), a.Total) // a probe and a question by each run
	}
	_, err := paid.Open(o)
	check.True(t, errors.Is(err, journal.ErrLocked) && strings.Contains(err.Error(), "name another file"), "a second program: %v", err)
	info, err := os.Stat(o.File)
	check.True(t, err == nil && info.Mode().Perm()&0o077 == 0, "the mode of the file is %v, %v", info.Mode(), err)
	_ = c.Close()
	short := llm.Prompt("b")
	short.MaxTokens = 10
	_, err = m.Generate(t.Context(), short)
	check.True(t, errors.Is(err, journal.ErrClosed) && script.Calls() == 2, "a call was made without its intent: %v", err)

	c = open(t, o) // opens the first run again
	m = cachedModel(t, c, script)
	reply, err := m.Generate(t.Context(), llm.Prompt("a"))
	check.True(t, err == nil && reply.Usage.PromptTokens == 1000 && script.Calls() == 2, "%+v, %v", reply, err)
	check.Is(t, ask(t, m, "b"), llm.ErrBudgetExceeded, "2,203 of 6,200 tokens were spent, and a reply may take 4,096")
	_ = c.Close()
	o.Tokens = 2200
	check.Is(t, check.Err(paid.Open(o)), llm.ErrBudgetExceeded, "nothing is left")

	o.Run, o.Tokens = "two", 6000
	c = open(t, o)
	m = cachedModel(t, c, script)
	check.OK(t, errors.Join(ask(t, m, "a"), ask(t, m, "b")))
	a := c.Account()
	check.True(t, script.Calls() == 3 && a.Total.Calls == 1 && len(a.Unknown) == 0, "%d calls, %+v", script.Calls(), a.Total)
}

// A model whose reply to the probe is unusable is available; other failures come before any other call, and
// again until they are repaired.
func TestProbe(t *testing.T) {
	for kind, there := range map[llm.Kind]bool{llm.ErrEmpty: true, llm.ErrTruncated: true, llm.ErrRefused: true, llm.ErrAuth: false} {
		c := open(t, paid.Options{File: file(t)})
		m := cachedModel(t, c, llmtest.NewScript("a"))
		last := llmtest.NewScript("big").Fail(llmtest.Any, &llm.Error{Kind: kind, Billed: llm.BilledNo})
		cachedModel(t, c, last)
		c.Probe()
		for i := range 2 {
			if err := ask(t, m, fmt.Sprint(i)); (err == nil) != there || err != nil && !strings.Contains(err.Error(), "call to model big, made before") {
				t.Errorf("%s: %v", kind, err)
			}
		}
		n := last.Calls()
		check.True(t, (n == 2 || there) && (n == 1 || !there), "%s: asked %d times", kind, n)
	}
}

// A model is probed once for all its roles, before its first call and not earlier; cached replies need no
// probe.
func TestProbeOnce(t *testing.T) {
	o := paid.Options{File: file(t)}
	for start, want := range []int{2, 0} {
		script := llmtest.NewScript("big")
		c := open(t, o)
		reader, judge := cachedModel(t, c, script), cachedModel(t, c, script)
		c.Probe()
		check.Equal(t, script.Calls(), 0, "calls before any is needed")
		var work errgroup.Group
		for range 8 {
			work.Go(func() error { return errors.Join(ask(t, reader, "a"), ask(t, judge, "a")) })
		}
		err := work.Wait()
		check.True(t, err == nil && script.Calls() == want, "start %d: %d calls, want %d, %v", start, script.Calls(), want, err)
		stages := c.Account().Stages
		check.True(t, len(stages) == 2 && stages[1].Name == paid.StageProbe && stages[1].Calls == 1, "start %d: %+v", start, stages)
		_ = c.Close()
	}
}

func TestOpenRefuses(t *testing.T) {
	_, err := paid.Open(paid.Options{Tokens: -1, Money: 1})
	check.True(t, err != nil && strings.Count(err.Error(), "\n") == 2, "%v", err)
	name := file(t)
	check.OK(t, os.WriteFile(name, []byte("not a journal, but somebody's notes"), 0o600))
	check.True(t, check.Err(paid.Open(paid.Options{File: name})) != nil, "opened another file")
	half := &paid.Prices{Currency: "EUR", Models: []paid.Price{{Model: "big", AsOf: "2025-01-01", Prompt: 1, Completion: 2}}}
	c := open(t, paid.Options{File: file(t), Prices: half, Money: paid.MoneyOf(1)})
	_, err = c.Embedder(&counter{})
	check.Fails(t, err, "add it to the prices", "an embedder without a price")
	_, err = c.Model(llmtest.NewScript("unpriced"))
	check.Fails(t, err, "no price", "a model without a price")
}

// pieces is a model that writes its reply word by word, and may fail in the middle.
type pieces struct {
	*llmtest.Script
	lose bool
}

func (p *pieces) Stream(ctx context.Context, req llm.Request, piece func(string) error) (llm.Reply, error) {
	reply, err := p.Generate(ctx, req)
	for word := range strings.SplitAfterSeq(reply.Text, " ") {
		if err != nil {
			break
		}
		if err = piece(word); err == nil && p.lose {
			err = &llm.Error{Kind: llm.ErrTimeout}
		}
	}
	return reply, err
}

// A reply comes in pieces the first time and in one piece from the journal; a partial reply is not stored.
func TestPieces(t *testing.T) {
	p := &pieces{llmtest.NewScript("m").Reply(llmtest.Any, "one two three"), true}
	c := open(t, paid.Options{File: file(t)})
	m := cachedModel(t, c, p)
	for _, want := range []string{"one |timeout", "one |two |three", "one two three"} {
		var got []string
		_, err := llm.Stream(t.Context(), m, llm.Prompt("count"), func(text string) error {
			got = append(got, text)
			return nil
		})
		if errors.Is(err, llm.ErrTimeout) {
			got = append(got, "timeout")
		} else if err != nil {
			t.Fatal(err)
		}
		check.Equal(t, strings.Join(got, "|"), want, "%q", got)
		p.lose = false
	}
	a := c.Account().Total
	check.True(t, p.Calls() == 2 && a.Calls == 2 && a.Failed == 1, "%d calls, %+v", p.Calls(), a)
	enough := errors.New("enough")
	check.Is(t, check.Err(llm.Stream(t.Context(), m, llm.Prompt("stop early"), func(string) error { return enough })), enough)
	_, err := m.Generate(t.Context(), llm.Prompt("stop early"))
	check.True(t, err == nil && p.Calls() == 4, "a reply that was not read to its end was kept: %d calls, %v", p.Calls(), err)
}

// At the next start filtered replies are requested again, with RetryFailures all recorded failures, and with
// WithFreshReply also complete replies.
func TestClientRetries(t *testing.T) {
	billed := func(k llm.Kind) error { return &llm.Error{Kind: k, Billed: llm.BilledYes} }
	for _, tt := range []struct {
		name       string
		first      error // nil for a reply without the requested JSON
		retry      bool
		asksAgain  bool
		whole      bool // whether the first reply is complete
		pastCaches bool
	}{
		{name: "cut", first: billed(llm.ErrTruncated)},
		{name: "cut, retried", first: billed(llm.ErrTruncated), retry: true, asksAgain: true},
		{name: "filtered", first: billed(llm.ErrFiltered), asksAgain: true},
		{name: "refused", first: billed(llm.ErrRefused)},
		{name: "refused, retried", first: billed(llm.ErrRefused), retry: true, asksAgain: true},
		{name: "no JSON"},
		{name: "no JSON, retried", retry: true, asksAgain: true},
		{name: "whole, retried", whole: true, retry: true},
		{name: "whole, anew", whole: true, pastCaches: true, asksAgain: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			broken, asked := true, 0
			asker := llm.ByFunc("big", func(context.Context, llm.Request) (llm.Reply, error) {
				if asked++; broken && !tt.whole {
					return llm.Reply{Text: "Sorry."}, tt.first
				}
				return llm.Reply{Text: "{}"}, nil
			})
			o := paid.Options{File: file(t)}
			req := llm.Prompt("?")
			req.JSON = true
			for i := range 3 {
				c := open(t, o)
				m := cachedModel(t, c, asker)
				ctx := t.Context()
				if tt.pastCaches && i == 1 {
					ctx = metering.WithFreshReply(ctx)
				}
				reply, err := m.Generate(ctx, req)
				check.True(t, (err == nil && reply.Text == "{}") == (tt.whole || i > 0 && tt.asksAgain),
					"start %d: %q, %v", i, reply.Text, err)
				check.OK(t, c.Close())
				broken, o.RetryFailures = false, tt.retry
			}
			want := 1
			if tt.asksAgain {
				want = 2
			}
			check.Equal(t, asked, want, "requests in three starts")
		})
	}
}

func TestConforms(t *testing.T) {
	c := open(t, paid.Options{File: file(t), Tokens: 1_000_000})
	llmtest.TestModel(t, metering.Metered(cachedModel(t, c, llmtest.NewScript("m"))))
	graphragtest.Embedder(t, embedder(t, c, &counter{}))
}

// Defaults apply to all requests that leave them unset, also to the probe, and are part of the cache key.
func TestDefaults(t *testing.T) {
	zero, half, seed := 0.0, 0.5, int64(7)
	o := paid.Options{File: file(t), Defaults: llm.Request{Temperature: &zero, TopP: &half, Seed: &seed, Stop: []string{"x"}, JSON: true, Stage: "s"}}
	script := llmtest.NewScript("m")
	c := open(t, o)
	m := cachedModel(t, c, script)
	c.Probe()
	check.OK(t, errors.Join(ask(t, m, "a"), ask(t, m, "a")))
	for _, req := range script.Requests() {
		want := llm.Request{Messages: req.Messages, Stage: req.Stage, MaxTokens: paid.DefaultReplyTokens, Temperature: &zero, TopP: &half, Seed: &seed, Stop: []string{"x"}}
		check.Equal(t, req, want)
	}
	own := llm.Request{MaxTokens: 1, Temperature: &half, TopP: &zero, Seed: new(int64), Stop: []string{}}
	check.OK(t, check.Err(m.Generate(t.Context(), own)))
	check.Equal(t, script.Requests()[2], own)
	stages := c.Account().Stages
	check.True(t, len(stages) == 2 && stages[1].Name == paid.StageProbe, "%+v", stages)
	_ = c.Close()
	o.Defaults.Temperature = nil
	c = open(t, o)
	err := ask(t, cachedModel(t, c, script), "a")
	check.True(t, err == nil && script.Calls() == 4, "without a temperature: %d calls, %v", script.Calls(), err)
	nan, inf := math.NaN(), math.Inf(1)
	err = check.Err(paid.Open(paid.Options{File: file(t), Defaults: llm.Request{MaxTokens: -1, Temperature: &nan, TopP: &inf}}))
	check.True(t, err != nil && strings.Count(err.Error(), "\n") == 2, "%v", err)
}

// requestFields says for every field of Request whether it is part of the cache key. The test fails for a new
// field until it is added here.
var requestFields = map[string]bool{
	"Messages": true, "Schema": true, "SchemaName": true, "JSON": true, "MaxTokens": true,
	"Temperature": true, "TopP": true, "Seed": true, "Stop": true, "Sample": true, "Tools": true,
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
	vary("Tools", []llm.Tool{{Name: "search"}}, []llm.Tool{{Name: "search", Parameters: json.RawMessage(`{}`)}})
	vary("JSON", true)
	vary("MaxTokens", 1, 2)
	vary("Temperature", ptr(0), ptr(0.7)) // an absent value is not zero
	vary("TopP", ptr(0), ptr(1))
	vary("Seed", seed(0), seed(1))
	vary("Stop", []string{"a"}, []string{"a", "b"}, []string{"b", "a"})
	vary("Sample", 1, 2)
	vary("Stage", "s")
	vary("Question", "q")

	script := llmtest.NewScript("m")
	c := cachedModel(t, open(t, paid.Options{File: file(t)}), script)
	asked := func(req llm.Request) bool {
		before := script.Calls()
		check.OK(t, check.Err(c.Generate(t.Context(), req)))
		return script.Calls() > before
	}
	asked(base)
	typ := reflect.TypeFor[llm.Request]()
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		inKey, classified := requestFields[name]
		if !classified || len(variants[name]) == 0 {
			t.Errorf("Request.%s is not classified: add it to requestFields, to the variants above and, if the model sees it, to the key", name)
			continue
		}
		for _, req := range variants[name] {
			if got := asked(req); got != inKey {
				t.Errorf("Request.%s: the model was asked: %v, want %v (%+v)", name, got, inKey, req)
			}
		}
	}
	check.True(t, !asked(llm.Request{Messages: base.Messages, Schema: json.RawMessage(` { "type" : "object" } `)}), "blanks in a schema change the key")
}

func TestModelsShareAJournalWithoutMixing(t *testing.T) {
	c := open(t, paid.Options{File: file(t)})
	a := llmtest.NewScript("a").Reply(llmtest.Any, "from a")
	b := llmtest.NewScript("b").Reply(llmtest.Any, "from b")
	for range 2 {
		for _, m := range []llm.Model{a, b} {
			reply, err := cachedModel(t, c, m).Generate(t.Context(), llm.Prompt("q"))
			check.True(t, err == nil && reply.Text == "from "+m.Name(), "%s: %+v, %v", m.Name(), reply, err)
		}
	}
	check.Equal(t, a.Calls()+b.Calls(), 2, "calls")
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
	client := open(t, paid.Options{File: file(t)})
	c := cachedModel(t, client, s)

	// The first caller gives up; the others still get their answer.
	ctx, cancel := context.WithCancel(t.Context())
	quit := make(chan error, 1)
	go func() {
		_, err := c.Generate(ctx, llm.Prompt("q"))
		quit <- err
	}()
	<-s.start
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			err := ask(t, c, "q")
			check.True(t, err == nil, "%v", err)
		})
	}
	time.Sleep(5 * time.Millisecond) // lets them start to wait; the result does not depend on it
	cancel()
	check.Is(t, <-quit, context.Canceled, "cancelled")
	close(s.gate)
	wg.Wait()
	if got := client.Account().Total.Calls; script.Calls() != 1 || got != 2 { // includes the call that was given up
		t.Errorf("%d calls, %d in the account", script.Calls(), got)
	}
}

// A paid failure is returned from the cache, with its usage; one that may pass is requested again. After that
// the next reply counts, whatever came before.
func TestFailuresAreKeptApart(t *testing.T) {
	o := paid.Options{File: file(t)}
	asJSON := llm.Prompt("broken")
	asJSON.JSON = true
	script := llmtest.NewScript("m").
		Reply(llmtest.Contains("broken"), "no JSON", `{"a":1}`).
		Fail(llmtest.Contains("refused"), &llm.Error{Kind: llm.ErrRefused, Billed: llm.BilledYes, Usage: llm.Usage{Calls: 1, PromptTokens: 9}}).
		Fail(llmtest.Contains("flaky"), &llm.Error{Kind: llm.ErrTransient})
	c := open(t, o)
	m := cachedModel(t, c, script)
	var e *llm.Error
	err := ask(t, m, "refused")
	check.True(t, errors.As(err, &e) && e.Usage.PromptTokens == 9, "first: %v", err)
	if err := ask(t, m, "refused"); !errors.As(err, &e) || e.Kind != llm.ErrRefused || e.Billed != llm.BilledNo || e.Usage != (llm.Usage{Calls: 1, PromptTokens: 9}) {
		t.Errorf("second: %v", err)
	}
	for range 2 {
		check.Is(t, ask(t, m, "flaky"), llm.ErrTransient)
		reply, err := m.Generate(t.Context(), asJSON)
		check.True(t, err == nil && reply.Text == "no JSON", "%+v, %v", reply, err)
	}
	if script.Calls() != 4 { // calls: refused 1, flaky 2, broken 1
		t.Errorf("%d calls", script.Calls())
	}
	for start, want := range []string{"no JSON", `{"a":1}`, `{"a":1}`} {
		_ = c.Close()
		o.RetryFailures = start == 1
		c = open(t, o)
		m = cachedModel(t, c, script)
		before := script.Calls()
		err := ask(t, m, "refused")
		check.True(t, errors.Is(err, llm.ErrRefused) && script.Calls() > before == o.RetryFailures, "start %d: %v, %d calls", start, err, script.Calls()-before)
		reply, err := m.Generate(t.Context(), asJSON)
		check.True(t, err == nil && reply.Text == want, "start %d: %+v, %v", start, reply, err)
	}
}

// Paid results that would repeat are stored; others are requested again.
func TestLastingFailures(t *testing.T) {
	for kind, kept := range map[llm.Kind]bool{
		llm.ErrFiltered: true, llm.ErrRefused: true, llm.ErrTruncated: true, llm.ErrInvalidOutput: true,
		llm.ErrEmpty: false, llm.ErrTimeout: false, llm.ErrContextLength: false, llm.ErrUnfinished: false, llm.ErrTransient: false,
	} {
		for billed, kept := range map[llm.Billed]bool{llm.BilledYes: kept, llm.BilledNo: false, llm.BilledUnknown: false} {
			script := llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: kind, Billed: billed, Partial: "half"})
			m := cachedModel(t, open(t, paid.Options{File: file(t)}), script)
			want := 2
			if kept {
				want = 1
			}
			for range 2 {
				e := new(llm.Error)
				if err := ask(t, m, "x"); !errors.Is(err, kind) || !errors.As(err, &e) || e.Partial != "half" {
					t.Error(err, e.Partial)
				}
			}
			check.Equal(t, script.Calls(), want, "%s, billed %q", kind, billed)
		}
	}
}

func TestUnkeptReplyIsAnError(t *testing.T) {
	var c *paid.Client
	m := llm.ByFunc("big", func(context.Context, llm.Request) (llm.Reply, error) {
		_ = c.Close() // after the intent is recorded
		return llm.Reply{Text: "x"}, nil
	})
	c = open(t, paid.Options{File: file(t)})
	check.Is(t, ask(t, cachedModel(t, c, m), "q"), journal.ErrClosed, "a reply that is not on disk was acknowledged")
}
