// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// requests is an embedder that takes two texts a request, bills every request, and
// may have something wrong with a reply.
type requests struct {
	mu        sync.Mutex
	delivered map[string]int // how often the vector of a text was given
	n         int
	bill      llm.Usage
	wrong     func(n int, vectors [][]float32) ([][]float32, error) // of the n-th request
}

func (r *requests) Name() string { return "vectors" }
func (r *requests) Batch() int   { return 2 }

func (r *requests) EmbedDocuments(ctx context.Context, texts []string) (out [][]float32, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	for _, t := range texts {
		out = append(out, llmtest.HashVector(t, 4))
	}
	used := llm.Usage{EmbeddedTokens: 100 * len(texts)}
	r.bill = r.bill.Add(used)
	llm.RecordUsage(ctx, used)
	if r.wrong != nil {
		out, err = r.wrong(r.n, out)
	}
	if own := (*llm.Error)(nil); errors.As(err, &own) {
		own.Usage = used
	} else if r.delivered == nil {
		r.delivered = map[string]int{}
	}
	for range out {
		r.delivered[texts[0]]++
		texts = texts[1:]
	}
	return out, err
}

func (r *requests) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := r.EmbedDocuments(ctx, []string{text})
	if err != nil || len(v) == 0 {
		return nil, err
	}
	return v[0], nil
}

func numbered(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	return texts
}

// A request that fails costs the requests before it, and those beside it, nothing:
// their vectors are kept. The ledger has what all of them cost, the failed ones
// included.
func TestVectorsAreKeptAsTheyCome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	r := &requests{}
	texts := numbered(300)
	for start := range 4 {
		j := openJournal(t, path)
		ledger := newLedger(t, j)
		e, err := paid.CachedEmbedder("vectors", ledger.Embedder("vectors", r), j)
		if err != nil {
			t.Fatal(err)
		}
		fails := r.n + 4
		r.wrong = func(n int, v [][]float32) ([][]float32, error) {
			if n >= fails && start < 3 {
				return nil, &llm.Error{Kind: llm.ErrInvalidOutput, Billed: llm.BilledYes}
			}
			return v, nil
		}
		out, err := e.EmbedDocuments(t.Context(), texts)
		if start < 3 != errors.Is(err, llm.ErrInvalidOutput) || start == 3 && (err != nil || !slices.Equal(out[7], llmtest.HashVector("text 7", 4))) {
			t.Errorf("start %d: %v", start, err)
		}
		if got := ledger.Account().Total; got.Usage.EmbeddedTokens != r.bill.EmbeddedTokens || got.Unknown != 0 {
			t.Errorf("start %d: billed %d tokens, in the ledger %+v", start, r.bill.EmbeddedTokens, got)
		}
		_ = j.Close()
	}
	for text, n := range r.delivered {
		if n != 1 {
			t.Fatalf("%q was asked for %d times after its vector had come", text, n-1)
		}
	}
}

// What cannot be used is refused with the name of the model and what to do, and is
// asked for again the next time.
func TestBadVectorsAreNotKept(t *testing.T) {
	set := func(x float32) func([][]float32) [][]float32 {
		return func(v [][]float32) [][]float32 {
			last := v[len(v)-1]
			for i := range last {
				last[i] = x
			}
			return v
		}
	}
	for name, spoil := range map[string]func([][]float32) [][]float32{
		"zeros": set(0), "NaN": set(float32(math.NaN())), "infinite": set(float32(math.Inf(1))), "too long": set(3e37),
		"of no length":      func(v [][]float32) [][]float32 { v[0] = nil; return v },
		"of two dimensions": func(v [][]float32) [][]float32 { v[0] = v[0][:3]; return v },
		"too few":           func(v [][]float32) [][]float32 { return v[1:] },
	} {
		r := &requests{}
		e, err := paid.CachedEmbedder("vectors", r, openJournal(t, filepath.Join(t.TempDir(), "j")))
		if err != nil {
			t.Fatal(err)
		}
		r.wrong = func(_ int, v [][]float32) ([][]float32, error) { return spoil(v), nil }
		if _, err := e.EmbedDocuments(t.Context(), numbered(2)); !errors.Is(err, transport.ErrBadVector) || !strings.Contains(err.Error(), "name another") {
			t.Errorf("%s: %v", name, err)
		}
		if name != "of two dimensions" { // one vector has but one
			if _, err := e.EmbedQuery(t.Context(), "q"); err == nil {
				t.Errorf("%s: taken for a question", name)
			}
		}
		r.wrong = nil
		if out, err := e.EmbedDocuments(t.Context(), numbered(2)); err != nil || !slices.Equal(out[1], llmtest.HashVector("text 1", 4)) {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
	empty := &requests{wrong: func(_ int, v [][]float32) ([][]float32, error) { return set(0)(v), nil }}
	e, err := paid.CachedEmbedder("vectors", empty, openJournal(t, filepath.Join(t.TempDir(), "j")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.EmbedDocuments(t.Context(), []string{" "}); err != nil {
		t.Errorf("zeros for a text that says nothing: %v", err)
	}
}

// The dimension of a model is what two of its replies agree on; a reply with
// another one is refused, or forgotten if it was the first.
func TestDimensionThatChanges(t *testing.T) {
	for _, at := range []int{1, 2, 3, 9} {
		r := &requests{wrong: func(n int, v [][]float32) ([][]float32, error) {
			for i := range v {
				if n == at {
					v[i] = v[i][:3]
				}
			}
			return v, nil
		}}
		e, err := paid.CachedEmbedder("vectors", r, openJournal(t, filepath.Join(t.TempDir(), "j")))
		if err != nil {
			t.Fatal(err)
		}
		_, first := e.EmbedDocuments(t.Context(), numbered(40))
		// Of those that are under way together any may be looked at first.
		if refused := errors.Is(first, transport.ErrBadVector); first != nil && !refused || at > 4 && !refused {
			t.Errorf("request %d: %v", at, first)
		}
		out, err := e.EmbedDocuments(t.Context(), numbered(40))
		if err != nil {
			t.Fatalf("request %d: %v", at, err)
		}
		for i, v := range out {
			if !slices.Equal(v, llmtest.HashVector(fmt.Sprint("text ", i), 4)) {
				t.Errorf("request %d: text %d has %v", at, i, v)
			}
		}
	}
	never := &requests{wrong: func(n int, v [][]float32) ([][]float32, error) {
		for i := range v {
			v[i] = slices.Repeat([]float32{1}, n)
		}
		return v, nil
	}}
	e, err := paid.CachedEmbedder("vectors", never, openJournal(t, filepath.Join(t.TempDir(), "j")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.EmbedDocuments(t.Context(), numbered(9)); !errors.Is(err, transport.ErrBadVector) || never.n > 5+5 { // batches and replies to settle it
		t.Errorf("%d requests: %v", never.n, err)
	}
}

// tries is a model whose attempts end as they are told, as a transport would tell
// of them; the last one is a reply.
type tries struct {
	llm.Model
	before []llm.Usage // what the attempts before cost; none is unknown
	during func()
}

func (m tries) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	sum := llm.Usage{}
	for _, u := range m.before {
		if u == (llm.Usage{}) {
			llm.RecordUnknown(ctx)
		}
		llm.RecordUsage(ctx, u)
		sum = sum.Add(u)
		if err := llm.MayRetry(ctx); err != nil {
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

// A call that is tried again takes from the budget what its attempts took, or may
// have taken, before the next one is made; the ledger has it even if the program
// dies then.
func TestAttemptsAreReserved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	req := llm.Prompt("12345678") // 2 tokens, 4 for the message
	req.MaxTokens = 94            // an attempt may take 100
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
		b, err := paid.NewBudget(tc.limit, nil)
		if err != nil {
			t.Fatal(err)
		}
		j := openJournal(t, path+fmt.Sprint(i))
		asked := false
		m := tries{llmtest.NewScript("big"), tc.before, func() {
			asked = true
			most := newLedger(t, j).Account().Total.Most // what the next program would read
			if want := atMostOf(tc.before); most.Tokens() != want+100 {
				t.Errorf("case %d: a dead program would have left %d tokens, want %d", i, most.Tokens(), want+100)
			}
		}}
		_, err = b.Model(newLedger(t, j).Model(m)).Generate(t.Context(), req)
		if asked != tc.fits || (err == nil) != tc.fits || err != nil && !errors.Is(err, llm.ErrBudgetExceeded) {
			t.Errorf("case %d: asked %v, %v", i, asked, err)
		}
		if b.Spent() > tc.limit {
			t.Errorf("case %d: %d of %d spent", i, b.Spent(), tc.limit)
		}
	}
}

func atMostOf(attempts []llm.Usage) (n int) {
	for _, u := range attempts {
		if n += u.Tokens(); u == (llm.Usage{}) {
			n += 100
		}
	}
	return n
}

// The limit is that of all starts: what earlier ones may have spent is spent. The
// reply always has a limit, which is what is reserved.
func TestLimitOverStarts(t *testing.T) {
	s := newServer()
	sent := 0
	s.script = llmtest.NewScript("big").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		if req.MaxTokens != 500 {
			t.Errorf("the limit of the reply is %d", req.MaxTokens)
		}
		sent += 500 // the server bills a whole reply that nobody sees
		return llm.Reply{}
	})
	o := paid.Options{Provider: lost{s}, File: filepath.Join(t.TempDir(), "j"), Run: "r", Tokens: 3000, ReplyTokens: 500, Prices: testPrices}
	for start := 0; ; start++ {
		c, err := paid.Open(o)
		if errors.Is(err, llm.ErrBudgetExceeded) {
			break
		}
		if err != nil || start > 10 {
			t.Fatal(start, err)
		}
		m, err := c.Model("big")
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Generate(t.Context(), llm.Prompt(fmt.Sprint("question ", start)))
		total := c.Account().Total
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if total.Most.Tokens() < sent || total.MostCost.Amount < paid.MoneyOf(10e-6*float64(sent)) {
			t.Errorf("%d tokens billed, %+v", sent, total)
		}
		if errors.Is(err, llm.ErrBudgetExceeded) {
			break
		}
	}
	if sent == 0 || sent > o.Tokens {
		t.Errorf("%d of %d tokens billed", sent, o.Tokens)
	}
}

// lost is a provider whose replies get lost on the way.
type lost struct{ *server }

func (l lost) Model(string) (llm.Model, error) { return losing{l.script}, nil }

type losing struct{ *llmtest.Script }

func (l losing) Generate(_ context.Context, req llm.Request) (llm.Reply, error) {
	_, _ = l.Script.Generate(context.Background(), req)
	return llm.Reply{}, &llm.Error{Kind: llm.ErrTimeout}
}

// A figure that no call has does not overflow an account, nor end a run.
func TestStrangeFigures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	for _, n := range []int{math.MaxInt, math.MaxInt / 2, -5} {
		script := llmtest.NewScript("big").Handle(llmtest.Any, func(llm.Request) llm.Reply {
			return llm.Reply{Text: "x", Usage: llm.Usage{PromptTokens: n, CompletionTokens: n}}
		})
		j := openJournal(t, path+fmt.Sprint(n))
		l := newLedger(t, j)
		b, err := paid.NewBudget(1e6, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if _, err := b.Model(l.Model(script)).Generate(t.Context(), llm.Prompt(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		a := l.Account().Total
		if got := a.Usage.Tokens(); got != 3*(5+paid.DefaultReplyTokens) || !a.Usage.Estimated || b.Spent() != got || a.Most.Tokens() != got {
			t.Errorf("%d tokens: %+v, %d spent", n, a, b.Spent())
		}
	}
}

// A limit of money needs the prices of what is used, before anything is.
func TestMoneyNeedsWholePrices(t *testing.T) {
	s := newServer()
	p := &paid.Prices{Currency: "EUR", Models: []paid.Price{{Model: "big", AsOf: "2025-01-01", Prompt: 1, Completion: 2}}}
	c, _ := open(t, paid.Options{Provider: s, File: filepath.Join(t.TempDir(), "j"), Prices: p, Money: paid.MoneyOf(1)})
	if _, err := c.Embedder("vectors"); err == nil || !strings.Contains(err.Error(), "add it to the prices") || s.script.Calls() > 0 {
		t.Errorf("an embedder without a price: %v", err)
	}
}
