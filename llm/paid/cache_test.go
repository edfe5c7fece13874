// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/paid"
)

func TestConforms(t *testing.T) {
	c := open(t, paid.Options{File: file(t), Tokens: 1_000_000})
	llmtest.TestModel(t, metering.Metered(cachedModel(t, c, llmtest.NewScript("m"))))
	embedtest.Test(t, embedder(t, c, &counter{}))
}

// Settings go with every call that has none of its own, the probe included, and decide
// what a reply is kept under.
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

// requestFields says for every field of Request whether it belongs to the
// cache key. A new field fails the test until somebody has decided.
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
	vary("Temperature", ptr(0), ptr(0.7)) // absent is not zero
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
			if err != nil || reply.Text != "from "+m.Name() {
				t.Errorf("%s: %+v, %v", m.Name(), reply, err)
			}
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

	// The first asker gives up; the others must still get their answer.
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
	time.Sleep(5 * time.Millisecond) // let them queue up; nothing depends on it
	cancel()
	check.Is(t, <-quit, context.Canceled, "cancelled")
	close(s.gate)
	wg.Wait()
	if got := client.Account().Total.Calls; script.Calls() != 1 || got != 2 { // the one that was given up
		t.Errorf("%d calls, %d in the account", script.Calls(), got)
	}
}

// A failure that was paid for is served again, with what it took then; one that may pass is
// asked for again. The next reply counts, whatever came before it.
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
	if script.Calls() != 4 { // refused 1, flaky 2, broken 1
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

// What was paid for and would come again is kept; what was not, or may pass, is
// asked for again.
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
			if script.Calls() != want {
				t.Errorf("%s, billed %q: %d calls, want %d", kind, billed, script.Calls(), want)
			}
		}
	}
}

func TestUnkeptReplyIsAnError(t *testing.T) {
	var c *paid.Client
	m := llm.ByFunc("big", func(context.Context, llm.Request) (llm.Reply, error) {
		_ = c.Close() // after the intent is written
		return llm.Reply{Text: "x"}, nil
	})
	c = open(t, paid.Options{File: file(t)})
	check.Is(t, ask(t, cachedModel(t, c, m), "q"), journal.ErrClosed, "a reply that is not on disk was acknowledged")
}
