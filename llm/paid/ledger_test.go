// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

var testPrices = &paid.Prices{Currency: "USD", Models: []paid.Price{
	{Model: "big", AsOf: "2025-06-01", Prompt: 2, Completion: 10},
	{Model: "openai:http://h/v1:big", AsOf: "2025-07-01", Prompt: 4, Completion: 20},
	{Model: "vectors", AsOf: "2025-05-01", Embedded: 0.02},
}}

func newLedger(t *testing.T, j *journal.Journal) *paid.Ledger {
	t.Helper()
	l, err := paid.NewLedger(j, "", testPrices)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// metered is an embedder that reports what it used, as a transport does.
type metered struct{ llm.Embedder }

func (m metered) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	llm.RecordUsage(ctx, llm.Usage{EmbeddedTokens: 100 * len(texts)})
	return m.Embedder.EmbedDocuments(ctx, texts)
}

func TestLedgerAddsUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := openJournal(t, path)
	ledger := newLedger(t, j)
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
	big := cache(t, ledger.Model(script("big")), j, paid.CacheOptions{})
	other := ledger.Model(script("unpriced"))
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
	ask(big, "question 1", "answer", "q1") // a hit
	ask(big, "filtered", "judge", "q0")
	ask(big, "refused", "judge", "q0")
	ask(big, "lost", "judge", "q1")
	ask(other, "odd", "judge", "q2")
	ask(other, "fine", "judge", "q2")
	e := ledger.Embedder("vectors", metered{failingEmbedder{}})
	if _, err := e.EmbedDocuments(llm.WithStage(llm.WithQuestion(t.Context(), "q0"), "index"), []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}

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
	got := ledger.Account()
	unknown := got.Unknown
	got.Unknown = nil
	mosts := cmp.FilterPath(func(p cmp.Path) bool { return strings.HasPrefix(p.Last().String(), ".Most") }, cmp.Ignore())
	if diff := cmp.Diff(want, got, mosts); diff != "" {
		t.Error(diff)
	}
	// The two calls whose end nobody saw may have taken their prompts of 5 and 7
	// tokens and a whole reply each.
	most := u(12, 11500+5+5, 1100+2*paid.DefaultReplyTokens, 200)
	if got.Total.Most != most || got.Total.MostCost != (paid.Cost{Amount: money(0.031004 + 0.00001 + 0.04096), Partial: true}) {
		t.Errorf("at most %+v, %v", got.Total.Most, got.Total.MostCost)
	}
	if len(unknown) != 2 || unknown[0].Question != "q1" || unknown[0].Kind != llm.ErrTimeout || unknown[0].Most.Tokens() == 0 || unknown[1].Question != "q2" {
		t.Errorf("unknown: %+v", unknown)
	}
	// The next process reads the same account.
	got.Unknown = unknown
	_ = j.Close()
	if diff := cmp.Diff(got, newLedger(t, openJournal(t, path)).Account()); diff != "" {
		t.Errorf("after a restart: %s", diff)
	}
}

func TestLedgerKnowsWhatADeadProcessAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := openJournal(t, path)
	s := slow{llmtest.NewScript("big"), make(chan struct{}, 1), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		req := llm.Prompt("never answered")
		req.Stage, req.Question, req.MaxTokens = "answer", "q7", 50
		_, _ = newLedger(t, j).Model(s).Generate(ctx, req)
	}()
	<-s.start
	_ = j.Close() // the process "dies" here: its last words go nowhere
	cancel()
	<-done
	a := newLedger(t, openJournal(t, path)).Account()
	if len(a.Unknown) != 1 || a.Unknown[0].Question != "q7" || a.Unknown[0].Ended || a.Unknown[0].Most.Tokens() < 50 || a.Total.Unknown != 1 || a.Total.Calls != 1 {
		t.Errorf("%+v", a)
	}
	if a.Stages[0].Name != "answer" || a.Stages[0].Unknown != 1 {
		t.Errorf("%+v", a.Stages)
	}
}

func TestLedgerStopsWithItsJournal(t *testing.T) {
	j := openJournal(t, filepath.Join(t.TempDir(), "j"))
	script := llmtest.NewScript("big")
	m := newLedger(t, j).Model(script)
	llmtest.TestModel(t, m)
	before := script.Calls()
	_ = j.Close()
	if _, err := m.Generate(t.Context(), llm.Prompt("q")); !errors.Is(err, journal.ErrClosed) || script.Calls() != before {
		t.Errorf("a call was made without its intent: %v", err)
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
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	var none *paid.Prices
	if c := none.Cost("big", u); !c.Partial || c.String() != "unknown" {
		t.Errorf("no prices: %v", c)
	}
	if c := testPrices.Cost("nobody", llm.Usage{CachedCalls: 4}); c.Partial || c.String() != "0.0000" {
		t.Errorf("nothing used: %v", c)
	}
	if c := (paid.Cost{Amount: paid.MoneyOf(2), Partial: true}); c.String() != "at least 2.0000" {
		t.Errorf("%v", c)
	}
	if c := (&paid.Prices{Currency: "X", Models: []paid.Price{{Model: "m", AsOf: "2025-01-01", Prompt: 1e6}}}).Cost("m", llm.Usage{PromptTokens: math.MaxInt}); c.Amount < 0 {
		t.Errorf("overflow: %v", c)
	}
	p, err := paid.ReadPrices(strings.NewReader(`{"currency":"EUR","models":[{"model":"m","as_of":"2025-01-02","prompt":0.15,"completion":0.6}]}`))
	if err != nil || p.Cost("m", llm.Usage{PromptTokens: 1e6}).Amount != paid.MoneyOf(0.15) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, half := range []string{`"prompt":0.15`, `"completion":1`, `"prompt":0`, `"prompt":1,"completion":0`, ``, `"prompt":1,"completion":null`, `"embedded":1,"prompt":2`} {
		text := strings.TrimSuffix(`{"currency":"EUR","models":[{"model":"m","as_of":"2025-01-02",`+half, ",") + `}]}`
		if _, err := paid.ReadPrices(strings.NewReader(text)); err == nil {
			t.Errorf("%s: half a price was taken", text)
		}
	}
	for _, whole := range []string{`"prompt":0,"completion":0`, `"embedded":0`, `"prompt":1,"completion":2,"embedded":3`} {
		text := `{"currency":"EUR","models":[{"model":"m","as_of":"2025-01-02",` + whole + `}]}`
		if _, err := paid.ReadPrices(strings.NewReader(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if c := testPrices.Cost("big", llm.Usage{EmbeddedTokens: 1}); !c.Partial {
		t.Errorf("texts embedded by a model with prices of chats: %v", c)
	}
	if c := testPrices.Cost("vectors", u); !c.Partial {
		t.Errorf("chats of a model with a price of embedding: %v", c)
	}
	_, err = paid.ReadPrices(strings.NewReader(`{"models":[{"model":"m","as_of":"yesterday","prompt":-1},{"model":"m","as_of":"2025-01-01"}]}`))
	if err == nil || strings.Count(err.Error(), "\n") != 6 {
		t.Errorf("seven faults: %v", err)
	}
}

func TestMoneyLimit(t *testing.T) {
	script := llmtest.NewScript("big").Handle(llmtest.Any, func(llm.Request) llm.Reply {
		return llm.Reply{Text: "x", Usage: llm.Usage{PromptTokens: 1000, CompletionTokens: 100}} // 0.003
	})
	b, err := paid.NewBudget(math.MaxInt, func(string) int { return 500 })
	if err != nil {
		t.Fatal(err)
	}
	if err := b.LimitMoney(paid.MoneyOf(0.01), testPrices); err != nil {
		t.Fatal(err)
	}
	req := llm.Prompt("q")
	req.MaxTokens = 100 // reserves 2·500 + 4 and 100 tokens: 0.003008
	var wg sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for range 10 {
		wg.Go(func() {
			_, err := b.Model(script).Generate(t.Context(), req)
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				refused++
				if !errors.Is(err, llm.ErrBudgetExceeded) || !strings.Contains(err.Error(), "USD") {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if script.Calls() != 3 || refused != 7 || b.SpentMoney() != paid.MoneyOf(0.009) {
		t.Errorf("%d calls, %d refused, %v spent", script.Calls(), refused, b.SpentMoney())
	}
	if _, err := b.Model(llmtest.NewScript("unpriced")).Generate(t.Context(), req); !errors.Is(err, llm.ErrBudgetExceeded) || !strings.Contains(err.Error(), "no price") {
		t.Errorf("a model without a price: %v", err)
	}
	if _, err := b.Embedder("", &counter{}).EmbedQuery(t.Context(), "a"); !errors.Is(err, llm.ErrBudgetExceeded) {
		t.Errorf("an embedder without a name: %v", err)
	}
	l := newLedger(t, openJournal(t, filepath.Join(t.TempDir(), "j")))
	if _, err := b.Embedder("vectors", l.Embedder("vectors", &counter{})).EmbedQuery(t.Context(), "a"); err != nil {
		t.Errorf("an embedder with a price: %v", err)
	}
	if err := b.LimitMoney(0, testPrices); err == nil {
		t.Error("a limit of nothing was accepted")
	}
}

func ExampleEstimate() {
	var e paid.Estimate
	e.Add("extract", "gpt-x", llm.Usage{Calls: 1000, PromptTokens: 1_600_000, CompletionTokens: 200_000})
	e.Add("judge", "gpt-y", llm.Usage{Calls: 300, PromptTokens: 90_000, CompletionTokens: 6_000})
	prices := &paid.Prices{Currency: "USD", Models: []paid.Price{{Model: "gpt-x", AsOf: "2025-06-01", Prompt: 0.25, Completion: 2}}}
	for _, s := range e.Stages {
		fmt.Println(s.Stage, s.Usage.Calls, s.Usage.PromptTokens+s.Usage.CompletionTokens, prices.Cost(s.Model, s.Usage))
	}
	fmt.Println("total", e.Total().Calls, e.Cost(prices), prices.Currency)
	// Output:
	// extract 1000 1800000 0.8000
	// judge 300 96000 unknown
	// total 1300 at least 0.8000 USD
}

func ExampleLedger() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	j, err := journal.Open(filepath.Join(dir, "llm.journal"), journal.Header{Schema: paid.Schema}, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer j.Close()
	prices := &paid.Prices{Currency: "USD", Models: []paid.Price{{Model: "demo", AsOf: "2025-06-01", Prompt: 1000, Completion: 4000}}}
	ledger, err := paid.NewLedger(j, "", prices)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := ledger.Model(llmtest.NewScript("demo").Reply(llmtest.Any, "Paris"))
	for _, stage := range []string{"answer", "answer", "judge"} {
		req := llm.Prompt("What is the capital of France?")
		req.Stage = stage
		if _, err := model.Generate(context.Background(), req); err != nil {
			fmt.Println(err)
		}
	}
	account := ledger.Account()
	for _, line := range append(account.Stages, account.Total) {
		fmt.Println(line.Name, line.Calls, line.Usage.PromptTokens, line.Usage.CompletionTokens, line.Cost, account.Currency)
	}
	// Output:
	// answer 2 16 4 0.0320 USD
	// judge 1 8 2 0.0160 USD
	// total 3 24 6 0.0480 USD
}
