// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

var testPrices = &paid.Prices{Currency: "USD", Models: []paid.Price{
	{Model: "big", AsOf: "2025-06-01", Prompt: 2, Completion: 10},
	{Model: "openai:http://h/v1:big", AsOf: "2025-07-01", Prompt: 4, Completion: 20},
	{Model: "vectors", AsOf: "2025-05-01", Embedded: 0.02},
}}

func TestLedgerAddsUp(t *testing.T) {
	o := paid.Options{File: file(t), Prices: testPrices}
	c := open(t, o)
	reply := func(llm.Request) llm.Reply {
		return llm.Reply{Text: "x", Usage: llm.Usage{PromptTokens: 1000, CompletionTokens: 100}}
	}
	script := func(name string) *llmtest.Script {
		return llmtest.NewScript(name).
			Fail(llmtest.Contains("filtered"), &llm.Error{Kind: llm.ErrFiltered, Billed: llm.BilledYes, Usage: llm.Usage{Calls: 1, PromptTokens: 500}}).
			Fail(llmtest.Contains("lost"), &llm.Error{Kind: llm.ErrTimeout}).
			Fail(llmtest.Contains("refused"), &llm.Error{Kind: llm.ErrAuth, Billed: llm.BilledNo}).
			Fail(llmtest.Contains("odd"), errors.New("no *llm.Error")).
			Handle(llmtest.Any, reply)
	}
	big, other := cachedModel(t, c, script("big")), cachedModel(t, c, script("unpriced"))
	ask := func(m llm.Model, text, stage, question string) {
		req := llm.Prompt(text)
		req.Stage, req.Question = stage, question
		_, _ = m.Generate(t.Context(), req)
	}
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() { ask(big, fmt.Sprint("question ", i), "answer", fmt.Sprint("q", i%2)) })
	}
	wg.Wait()
	ask(big, "question 1", "answer", "q1") // a cached reply
	ask(big, "filtered", "judge", "q0")
	ask(big, "refused", "judge", "q0")
	ask(big, "lost", "judge", "q1")
	ask(other, "odd", "judge", "q2")
	ask(other, "fine", "judge", "q2")
	check.OK(t, check.Err(embedder(t, c, &requests{}).EmbedDocuments(metering.WithStage(metering.WithQuestion(t.Context(), "q0"), "index"), []string{"a", "b"})))

	u := func(calls, prompt, completion, embedded int) llm.Usage {
		return llm.Usage{Calls: calls, PromptTokens: prompt, CompletionTokens: completion, EmbeddedTokens: embedded}
	}
	money := paid.MoneyOf
	want := paid.Account{
		Currency: "USD", AsOf: "2025-05-01",
		Total: paid.Line{Name: "total", Calls: 16, Failed: 4, Unknown: 2, Usage: u(12, 11500, 1100, 200), Cost: paid.Cost{Amount: money(0.031004), Partial: true}},
		Stages: []paid.Line{
			{Name: "answer", Calls: 10, Usage: u(10, 10000, 1000, 0), Cost: paid.Cost{Amount: money(0.03)}},
			{Name: "index", Calls: 1, Usage: u(0, 0, 0, 200), Cost: paid.Cost{Amount: money(0.000004)}},
			{Name: "judge", Calls: 5, Failed: 4, Unknown: 2, Usage: u(2, 1500, 100, 0), Cost: paid.Cost{Amount: money(0.001), Partial: true}},
		},
		Questions: []paid.Line{
			{Name: "q0", Calls: 8, Failed: 2, Usage: u(6, 5500, 500, 200), Cost: paid.Cost{Amount: money(0.016004)}},
			{Name: "q1", Calls: 6, Failed: 1, Unknown: 1, Usage: u(5, 5000, 500, 0), Cost: paid.Cost{Amount: money(0.015)}},
			{Name: "q2", Calls: 2, Failed: 1, Unknown: 1, Usage: u(1, 1000, 100, 0), Cost: paid.Cost{Partial: true}},
		},
		Models: []paid.Line{
			{Name: "big", Calls: 13, Failed: 3, Unknown: 1, Usage: u(11, 10500, 1000, 0), Cost: paid.Cost{Amount: money(0.031)}},
			{Name: "unpriced", Calls: 2, Failed: 1, Unknown: 1, Usage: u(1, 1000, 100, 0), Cost: paid.Cost{Partial: true}},
			{Name: "vectors", Calls: 1, Usage: u(0, 0, 0, 200), Cost: paid.Cost{Amount: money(0.000004)}},
		},
	}
	got := c.Account()
	unknown := got.Unknown
	got.Unknown = nil
	check.Equal(t, cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool { return strings.HasPrefix(p.Last().String(), ".Most") }, cmp.Ignore())), "")
	// The two calls without a recorded end may have used their prompts of 5 and 7 tokens and a whole reply
	// each.
	most := u(12, 11500+5+5, 1100+2*paid.DefaultReplyTokens, 200)
	if got.Total.Most != most || got.Total.MostCost != (paid.Cost{Amount: money(0.031004 + 0.00001 + 0.04096), Partial: true}) {
		t.Errorf("at most %+v, %v", got.Total.Most, got.Total.MostCost)
	}
	check.True(t, len(unknown) == 2 && unknown[0].Question == "q1" && unknown[0].Kind == llm.ErrTimeout &&
		unknown[0].Most.Tokens() != 0 && unknown[1].Question == "q2", "unknown: %+v", unknown)
	// The next process has the same account.
	got.Unknown = unknown
	_ = c.Close()
	check.Equal(t, open(t, o).Account(), got, "after a restart")
}

func TestAccountOfADeadProcess(t *testing.T) {
	o := paid.Options{File: file(t)}
	c := open(t, o)
	s := slow{llmtest.NewScript("big"), make(chan struct{}, 1), make(chan struct{})}
	m := cachedModel(t, c, s)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		req := llm.Prompt("never answered")
		req.Stage, req.Question, req.MaxTokens = "answer", "q7", 50
		_, _ = m.Generate(ctx, req)
	}()
	<-s.start
	_ = c.Close() // the process "dies" here: its last words go nowhere
	cancel()
	<-done
	a := open(t, o).Account()
	check.Must(t, len(a.Unknown) == 1 && a.Total.Unknown == 1 && a.Total.Calls == 1, "%+v", a)
	check.True(t, a.Unknown[0].Question == "q7" && !a.Unknown[0].Ended && a.Unknown[0].Most.Tokens() >= 50, "%+v", a.Unknown[0])
	check.True(t, a.Stages[0].Name == "answer" && a.Stages[0].Unknown == 1, "%+v", a.Stages)
}

// Concurrent calls wait for each other within a limit of tokens or of money, and together they stay within it.
func TestLimits(t *testing.T) {
	for _, tc := range []struct {
		name         string
		o            paid.Options
		count        int // number of tokens of a text
		reply        llm.Usage
		calls, spent int
	}{
		// A call reserves 36 (schema) + 36 + 4 + 60 = 136 tokens and uses 50: two calls fit, a third might not.
		{"tokens", paid.Options{Tokens: 200}, 36, llm.Usage{PromptTokens: 40, CompletionTokens: 10}, 2, 100},
		// A call reserves 2·500 + 4 and 60 tokens, 0.002608, and uses 0.003.
		{"money", paid.Options{Money: paid.MoneyOf(0.01), Prices: testPrices}, 500, llm.Usage{PromptTokens: 1000, CompletionTokens: 100}, 3, 3300},
	} {
		script := llmtest.NewScript("big").Handle(llmtest.Any, func(llm.Request) llm.Reply { return llm.Reply{Text: "x", Usage: tc.reply} })
		tc.o.File, tc.o.CountTokens = file(t), func(string) int { return tc.count }
		c := open(t, tc.o)
		m := cachedModel(t, c, script)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				req := llm.Prompt(fmt.Sprint(i))
				req.MaxTokens = 60
				_, err := m.Generate(t.Context(), req)
				check.True(t, err == nil || errors.Is(err, llm.ErrBudgetExceeded), "%v", err)
			})
		}
		wg.Wait()
		got := c.Account().Total.Usage.Tokens()
		check.True(t, script.Calls() == tc.calls && got == tc.spent, "%s: %d calls, %d tokens spent", tc.name, script.Calls(), got)
	}
}

// Waiting for other calls' reservations ends with the context.
func TestWaitForOthers(t *testing.T) {
	c := open(t, paid.Options{File: file(t), Tokens: 100})
	s := slow{llmtest.NewScript("m"), make(chan struct{}, 1), make(chan struct{})}
	m := cachedModel(t, c, s)
	req := llm.Prompt("q")
	req.MaxTokens = 60
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := m.Generate(t.Context(), req)
		check.True(t, err == nil, "%v", err)
	})
	<-s.start
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	other := req
	other.Sample = 1
	_, err := m.Generate(ctx, other)
	check.True(t, errors.Is(err, context.DeadlineExceeded) && len(s.start) == 0, "a call that has to wait for another: %v", err)
	close(s.gate)
	wg.Wait()
}

// Usage that may have been billed is charged, other reservations are returned.
func TestFailuresAreCharged(t *testing.T) {
	for billed, want := range map[llm.Billed]int{llm.BilledUnknown: 10, llm.BilledNo: 0, llm.BilledYes: 2} {
		e := &llm.Error{Kind: llm.ErrTransient, Billed: billed}
		if billed == llm.BilledYes {
			e.Usage.PromptTokens = 2
		}
		c := open(t, paid.Options{File: file(t), Tokens: 20})
		failing := cachedModel(t, c, llmtest.NewScript("m").Fail(llmtest.Contains("12345678"), e))
		req := llm.Prompt("12345678") // 2 tokens, and 4 for the message
		req.MaxTokens = 4
		check.True(t, check.Err(failing.Generate(t.Context(), req)) != nil, "no error")
		got := c.Account().Total.Most.Tokens()
		check.Equal(t, got, want, "billed %q: at most %d tokens", billed, got)
		for _, over := range []int{1, 0} {
			req.Messages[0].Text, req.MaxTokens = "abcdefgh", 20-want-6+over
			if _, err := failing.Generate(t.Context(), req); errors.Is(err, llm.ErrBudgetExceeded) != (over > 0) {
				t.Errorf("billed %q: %d more than the rest: %v", billed, over, err)
			}
		}
	}
}

// tries is a model whose attempts end in given ways, and report it as a transport does; the last one is a
// reply.
type tries struct {
	llm.Model
	before []llm.Usage // usage of earlier attempts; the zero value for an unknown one
	during func()
}

func (m tries) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	sum := llm.Usage{}
	for _, u := range m.before {
		if u == (llm.Usage{}) {
			metering.RecordUnknown(ctx)
		}
		metering.RecordUsage(ctx, u)
		sum = sum.Add(u)
		if err := metering.MayRetry(ctx); err != nil {
			return llm.Reply{}, err
		}
	}
	if m.during != nil {
		m.during()
	}
	reply, err := m.Model.Generate(ctx, req)
	reply.Usage = reply.Usage.Add(sum)
	return reply, err
}

// Before a retry, the usage of the attempts so far, or their largest possible one, is taken from the budget,
// and recorded in the ledger in case the program dies.
func TestAttemptsAreReserved(t *testing.T) {
	req := llm.Prompt("12345678") // 2 tokens, and 4 for the message
	req.MaxTokens = 94            // an attempt may use 100 tokens
	empty := llm.Usage{Calls: 1, PromptTokens: 6, CompletionTokens: 1}
	for i, tc := range []struct {
		before []llm.Usage
		limit  int
		fits   bool
	}{
		{nil, 100, true}, {nil, 99, false},
		{[]llm.Usage{empty}, 107, true}, {[]llm.Usage{empty}, 106, false},
		{[]llm.Usage{{}, {}}, 300, true}, {[]llm.Usage{{}, {}}, 299, false}, {[]llm.Usage{{}, empty}, 207, true}, {[]llm.Usage{{}, empty}, 206, false},
	} {
		o := paid.Options{File: file(t), Tokens: tc.limit}
		c := open(t, o)
		asked := false
		m := tries{llmtest.NewScript("big"), tc.before, func() {
			asked = true
			most, want := inJournal(t, o.File), atMostOf(tc.before)+100
			check.Equal(t, most, want, "case %d: a dead program would have left %d tokens", i, most)
		}}
		_, err := cachedModel(t, c, m).Generate(t.Context(), req)
		check.True(t, asked == tc.fits && (err == nil) == tc.fits &&
			(err == nil || errors.Is(err, llm.ErrBudgetExceeded) && strings.Contains(err.Error(), fmt.Sprintf("of the budget of %d are left", tc.limit))), "case %d: asked %v, %v", i, asked, err)
		spent := c.Account().Total.Most.Tokens()
		check.True(t, spent <= tc.limit, "case %d: %d of %d spent", i, spent, tc.limit)
	}
}

// inJournal returns the spending that the next program would find if this one died now.
func inJournal(t *testing.T, name string) int {
	data := check.Of(os.ReadFile(name)).OK(t)
	dead := file(t)
	check.OK(t, os.WriteFile(dead, data, 0o600))
	return open(t, paid.Options{File: dead}).Account().Total.Most.Tokens()
}

func atMostOf(attempts []llm.Usage) (n int) {
	for _, u := range attempts {
		if n += u.Tokens(); u == (llm.Usage{}) {
			n += 100
		}
	}
	return n
}

// The limit applies to all starts: possible costs of earlier ones are spent. Every reply has a limit, which is
// reserved.
func TestLimitOverStarts(t *testing.T) {
	sent := 0
	lost := llm.ByFunc("big", func(_ context.Context, req llm.Request) (llm.Reply, error) {
		check.Equal(t, req.MaxTokens, 500, "the limit of the reply")
		sent += 500 // the server bills a whole reply that is never read
		return llm.Reply{}, &llm.Error{Kind: llm.ErrTimeout}
	})
	for _, o := range []paid.Options{{Tokens: 3000}, {Money: paid.MoneyOf(0.03)}} {
		sent = 0
		o.File, o.Run, o.Defaults.MaxTokens, o.Prices = file(t), "r", 500, testPrices
		for start := 0; ; start++ {
			c, err := paid.Open(o)
			if errors.Is(err, llm.ErrBudgetExceeded) {
				break
			}
			if err != nil || start > 10 {
				t.Fatal(start, err)
			}
			err = ask(t, cachedModel(t, c, lost), fmt.Sprint("question ", start))
			total := c.Account().Total
			_ = c.Close()
			if total.Most.Tokens() < sent || total.MostCost.Amount < paid.MoneyOf(10e-6*float64(sent)) {
				t.Errorf("%d tokens billed, %+v", sent, total)
			}
			if errors.Is(err, llm.ErrBudgetExceeded) {
				break
			}
		}
		check.True(t, sent != 0 && sent <= 3000, "%d of 3,000 tokens billed", sent)
	}
}

// Implausible figures neither overflow an account nor end a run.
func TestStrangeFigures(t *testing.T) {
	for _, n := range []int{math.MaxInt, math.MaxInt / 2, -5} {
		script := llmtest.NewScript("big").Handle(llmtest.Any, func(llm.Request) llm.Reply {
			return llm.Reply{Text: "x", Usage: llm.Usage{PromptTokens: n, CompletionTokens: n}}
		})
		c := open(t, paid.Options{File: file(t), Tokens: 1e6})
		m := cachedModel(t, c, script)
		for i := range 3 {
			check.OK(t, ask(t, m, fmt.Sprint(i)))
		}
		a := c.Account().Total
		got := a.Usage.Tokens()
		check.True(t, got == 3*(5+paid.DefaultReplyTokens) && a.Usage.Estimated && a.Most.Tokens() == got, "%d tokens: %+v", n, a)
	}
}

func TestPrices(t *testing.T) {
	u := llm.Usage{PromptTokens: 3, CompletionTokens: 1}
	for name, want := range map[string]string{
		"big":                            "0.000016",
		"openai:https://api/v1:big":      "0.000016",
		"openai:http://h/v1:big":         "0.000032",
		`openai:https://x/v1:big{"a":1}`: "0.000016",
		"openai:https://x/v1:notbig":     "?",
		"bigger":                         "?",
	} {
		cost := testPrices.Cost(name, u)
		got := fmt.Sprintf("%.6f", cost.Amount.Units())
		if cost.Partial {
			got = "?"
		}
		check.Equal(t, got, want, "%s", name)
	}
	check.Equal(t, paid.MoneyOf(math.NaN()), 0, "NaN is an amount")
	var none *paid.Prices
	c := none.Cost("big", u)
	check.True(t, c.Partial && c.String() == "unknown", "no prices: %v", c)
	c = testPrices.Cost("nobody", llm.Usage{CachedCalls: 4})
	check.True(t, !c.Partial && c.String() == "0.0000", "nothing used: %v", c)
	c = (paid.Cost{Amount: paid.MoneyOf(2), Partial: true})
	check.Equal(t, c.String(), "at least 2.0000", "%v", c)
	c = (&paid.Prices{Currency: "X", Models: []paid.Price{{Model: "m", AsOf: "2025-01-01", Prompt: 1e6}}}).Cost("m", llm.Usage{PromptTokens: math.MaxInt})
	check.True(t, c.Amount >= 0, "overflow: %v", c)
	p, err := paid.ReadPrices(strings.NewReader(`{"currency":"EUR","models":[{"model":"m","as_of":"2025-01-02","prompt":0.15,"completion":0.6}]}`))
	check.True(t, err == nil && p.Cost("m", llm.Usage{PromptTokens: 1e6}).Amount == paid.MoneyOf(0.15), "%+v, %v", p, err)
	_, err = paid.ReadPrices(strings.NewReader("prices"))
	check.True(t, err != nil && strings.Count(err.Error(), "invalid character") == 1, "no JSON: %v", err)
	err = (&paid.Prices{Currency: "E\u202eUR"}).Check()
	check.Fails(t, err, `"E\u202eUR"`, "a currency that turns the line round")
	for _, half := range []string{`"prompt":0.15`, `"completion":1`, `"prompt":0`, `"prompt":1,"completion":0`, ``, `"prompt":1,"completion":null`, `"embedded":1,"prompt":2`} {
		text := strings.TrimSuffix(`{"currency":"EUR","models":[{"model":"m","as_of":"2025-01-02",`+half, ",") + `}]}`
		check.True(t, check.Err(paid.ReadPrices(strings.NewReader(text))) != nil, "%s: half a price was taken", text)
	}
	for _, whole := range []string{`"prompt":0,"completion":0`, `"embedded":0`, `"prompt":1,"completion":2,"embedded":3`} {
		text := `{"currency":"EUR","models":[{"model":"m","as_of":"2025-01-02",` + whole + `}]}`
		check.OK(t, check.Err(paid.ReadPrices(strings.NewReader(text))), "%s", text)
	}
	c = testPrices.Cost("big", llm.Usage{EmbeddedTokens: 1})
	check.True(t, c.Partial, "texts embedded by a model with prices of chats: %v", c)
	c = testPrices.Cost("vectors", u)
	check.True(t, c.Partial, "chats of a model with a price of embedding: %v", c)
	_, err = paid.ReadPrices(strings.NewReader(`{"models":[{"model":"m","as_of":"yesterday","prompt":-1},{"model":"m","as_of":"2025-01-01"}]}`))
	check.True(t, err != nil && strings.Count(err.Error(), "\n") == 6, "seven faults: %v", err)
}

// A server that exceeds the limit of replies exceeds a budget once, by its running calls; after that each call
// reserves as much as the longest reply, also at the next start.
func TestReplyBeyondItsLimit(t *testing.T) {
	const asked, written, concurrent = 100, 1000, 8 // limit of a reply in tokens, tokens of a reply, callers
	var billed atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		billed.Add(written)
		fmt.Fprintf(w, `{"choices": [{"finish_reason": "stop", "message": {"content": "word"}}], "usage": {"prompt_tokens": 1, "completion_tokens": %d}}`, written)
	}))
	defer server.Close()
	m := check.Of(transport.OpenAI(transport.Config{Model: "big", BaseURL: server.URL})).OK(t)
	for name, tc := range map[string]struct {
		o    paid.Options
		most int
	}{
		"tokens": {paid.Options{Tokens: 10_000}, 10_000},
		"money":  {paid.Options{Money: paid.MoneyOf(0.1), Prices: testPrices}, 10_000}, // enough for this number of tokens
		"little": {paid.Options{Tokens: 1_000}, concurrent * written},
	} {
		var log strings.Builder
		o := tc.o
		o.File, o.Run, o.Logger = file(t), "r", slog.New(slog.NewTextHandler(&log, nil))
		billed.Store(0)
		var refused atomic.Int64
		for start := range 2 {
			c, err := paid.Open(o)
			if errors.Is(err, llm.ErrBudgetExceeded) {
				break
			}
			check.OK(t, err)
			paying := cachedModel(t, c, m)
			var work errgroup.Group
			work.SetLimit(concurrent)
			for i := range 40 {
				work.Go(func() error {
					req := llm.Prompt(fmt.Sprint(start, i))
					req.MaxTokens = asked
					_, err := paying.Generate(t.Context(), req)
					if errors.Is(err, llm.ErrBudgetExceeded) {
						refused.Add(1)
						return nil
					}
					return err
				})
			}
			check.OK(t, work.Wait())
			if spent := c.Account().Total.Usage.CompletionTokens; int64(spent) != billed.Load() {
				t.Errorf("%s: %d tokens in the account, %d billed", name, spent, billed.Load())
			}
			_ = c.Close()
		}
		if n := int(billed.Load()); n < tc.most*8/10 && name != "little" || n > tc.most || refused.Load() == 0 {
			t.Errorf("%s: %d tokens billed, %d calls refused, want at most %d", name, n, refused.Load(), tc.most)
		}
		n := strings.Count(log.String(), "longer than its limit")
		check.Equal(t, n, 1, "%s: said %d times: %s", name, n, &log)
	}
}
