// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// server is a provider of one scripted model and one embedder.
type server struct {
	script *llmtest.Script
	counter
}

func (s *server) Name() string { return "vectors" }
func (s *server) Model(name string) (llm.Model, error) {
	if name == "" {
		return nil, errors.New("no name")
	}
	return s.script, nil
}
func (s *server) Embedder(string) (llm.NamedEmbedder, error) { return s, nil }

func newServer() *server {
	return &server{script: llmtest.NewScript("big").Handle(llmtest.Any, func(llm.Request) llm.Reply {
		return llm.Reply{Text: "x", Usage: llm.Usage{PromptTokens: 1000, CompletionTokens: 100}}
	})}
}

func open(t *testing.T, o paid.Options) (*paid.Client, llm.Model) {
	t.Helper()
	c, err := paid.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	m, err := c.Model("big")
	if err != nil {
		t.Fatal(err)
	}
	return c, m
}

// Two runs share the replies; each has the account and the limits of its own
// starts.
func TestClientSharesRepliesBetweenRuns(t *testing.T) {
	s := newServer()
	o := paid.Options{Provider: s, File: filepath.Join(t.TempDir(), "new", "replies"), Run: "one", Prices: testPrices, Tokens: 6200}
	c, m := open(t, o)
	e, err := c.Embedder("vectors")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Generate(t.Context(), llm.Prompt("a")); err != nil {
			t.Fatal(err)
		}
		if _, err := e.EmbedQuery(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	if a := c.Account(); s.script.Calls() != 2 || a.Total.Calls != 4 || a.Total.Usage.Tokens() != 2203 {
		t.Errorf("%d calls, %+v", s.script.Calls(), a.Total) // a probe and a question for each
	}
	if _, err := paid.Open(o); !errors.Is(err, journal.ErrLocked) || !strings.Contains(err.Error(), "name another file") {
		t.Errorf("a second program: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}

	c, m = open(t, o) // the same run, started again
	if reply, err := m.Generate(t.Context(), llm.Prompt("a")); err != nil || reply.Usage.PromptTokens != 1000 {
		t.Errorf("%+v, %v", reply, err)
	}
	if _, err := m.Generate(t.Context(), llm.Prompt("b")); !errors.Is(err, llm.ErrBudgetExceeded) {
		t.Errorf("2,203 of 6,200 tokens were spent, and a reply may take 4,096: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	o.Tokens = 2200
	if _, err := paid.Open(o); !errors.Is(err, llm.ErrBudgetExceeded) {
		t.Errorf("nothing is left: %v", err)
	}

	o.Run = "two"
	o.Tokens = 6000
	c, m = open(t, o)
	for _, text := range []string{"a", "b"} {
		if _, err := m.Generate(t.Context(), llm.Prompt(text)); err != nil {
			t.Fatal(err)
		}
	}
	if a := c.Account(); s.script.Calls() != 3 || a.Total.Calls != 1 || len(a.Unknown) != 0 {
		t.Errorf("%d calls, %+v", s.script.Calls(), a.Total)
	}
}

func TestClientLimitsMoney(t *testing.T) {
	s := newServer() // a call costs 0.003
	o := paid.Options{Provider: s, File: filepath.Join(t.TempDir(), "j"), Prices: testPrices, Money: paid.MoneyOf(0.06)}
	c, m := open(t, o)
	for _, text := range []string{"a", "b"} {
		if _, err := m.Generate(t.Context(), llm.Prompt(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	o.Money = paid.MoneyOf(0.006)
	if _, err := paid.Open(o); !errors.Is(err, llm.ErrBudgetExceeded) || !strings.Contains(err.Error(), "USD") {
		t.Errorf("0.006 were spent: %v", err)
	}
}

// A model that has nothing to say to the probe is there; other failures come
// before any work, and again until they are mended.
func TestProbe(t *testing.T) {
	for kind, there := range map[llm.Kind]bool{llm.ErrEmpty: true, llm.ErrTruncated: true, llm.ErrAuth: false} {
		s := &server{script: llmtest.NewScript("big").Fail(llmtest.Any, &llm.Error{Kind: kind, Billed: llm.BilledNo})}
		c, _ := open(t, paid.Options{Provider: s, File: filepath.Join(t.TempDir(), "j")})
		for range 2 {
			if err := c.Probe(t.Context()); (err == nil) != there || err != nil && !strings.Contains(err.Error(), "sign of life") {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	_, err := paid.Open(paid.Options{Tokens: -1, Money: 1})
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("%v", err)
	}
	if paid.MoneyOf(math.NaN()) != 0 {
		t.Error("NaN is an amount")
	}
	s := newServer()
	file := filepath.Join(t.TempDir(), "j")
	if err := os.WriteFile(file, []byte("not a journal, but somebody's notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := paid.Open(paid.Options{Provider: s, File: file}); err == nil {
		t.Error("opened another file")
	}
	c, _ := open(t, paid.Options{Provider: s, File: filepath.Join(t.TempDir(), "j")})
	if _, err := c.Model(""); err == nil {
		t.Error("a model without a name")
	}
}

// pieces is a model that writes its reply word by word, and may lose the rest.
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

// A reply comes in pieces through all layers the first time and in one piece
// from the cache; half of one is not kept.
func TestPiecesThroughTheLayers(t *testing.T) {
	j := openJournal(t, filepath.Join(t.TempDir(), "j"))
	budget, err := paid.NewBudget(1e6, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &pieces{llmtest.NewScript("m").Reply(llmtest.Any, "one two three"), true}
	ledger := newLedger(t, j)
	m := cache(t, budget.Model(ledger.Model(p)), j, paid.CacheOptions{})
	for _, want := range []string{"one |timeout", "one |two |three", "one two three"} {
		var got []string
		for text, err := range llm.Pieces(t.Context(), m, llm.Prompt("count")) {
			if errors.Is(err, llm.ErrTimeout) {
				text = "timeout"
			} else if err != nil {
				t.Fatal(err)
			}
			got = append(got, text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q, want %q", got, want)
		}
		p.lose = false
	}
	if a := ledger.Account().Total; p.Calls() != 2 || a.Calls != 2 || a.Failed != 1 {
		t.Errorf("%d calls, %+v", p.Calls(), a)
	}
	for range llm.Pieces(t.Context(), m, llm.Prompt("stop early")) {
		break
	}
	if _, err := m.Generate(t.Context(), llm.Prompt("stop early")); err != nil || p.Calls() != 4 {
		t.Errorf("a reply that was not read to its end was kept: %d calls, %v", p.Calls(), err)
	}
}

// asker is a provider of one model.
type asker func() (llm.Reply, error)

func (a asker) Name() string                                             { return "big" }
func (a asker) Model(string) (llm.Model, error)                          { return a, nil }
func (a asker) Embedder(string) (llm.NamedEmbedder, error)               { return nil, errors.New("none") }
func (a asker) Generate(context.Context, llm.Request) (llm.Reply, error) { return a() }

// At the next start cut and filtered replies are asked for again, on demand every
// recorded failure, and under WithAnew also what looked whole.
func TestClientRetries(t *testing.T) {
	billed := func(k llm.Kind) error { return &llm.Error{Kind: k, Billed: llm.BilledYes} }
	for _, tt := range []struct {
		name       string
		first      error // nil: a reply without the JSON that was asked for
		retry      bool
		asksAgain  bool
		whole      bool // the first reply is what was asked for
		pastCaches bool
	}{
		{name: "cut", first: billed(llm.ErrTruncated), asksAgain: true},
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
			o := paid.Options{Provider: asker(func() (llm.Reply, error) {
				if asked++; broken && !tt.whole {
					return llm.Reply{Text: "Sorry."}, tt.first
				}
				return llm.Reply{Text: "{}"}, nil
			}), File: filepath.Join(t.TempDir(), "replies")}
			req := llm.Prompt("?")
			req.JSON = true
			for i := range 3 {
				c, m := open(t, o)
				ctx := t.Context()
				if tt.pastCaches && i == 1 {
					ctx = llm.WithAnew(ctx)
				}
				reply, err := m.Generate(ctx, req)
				if healed := err == nil && reply.Text == "{}"; healed != (tt.whole || i > 0 && tt.asksAgain) {
					t.Errorf("start %d: %q, %v", i, reply.Text, err)
				}
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				broken, o.RetryFailures = false, tt.retry
			}
			want := 1
			if tt.asksAgain {
				want = 2
			}
			if asked != want {
				t.Errorf("%d requests in three starts, want %d", asked, want)
			}
		})
	}
}
