// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// counter is an embedder that counts texts.
type counter struct {
	mu    sync.Mutex
	texts []string
}

func (c *counter) Name() string { return "vectors" }

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

func TestVectorsArePaidOnce(t *testing.T) {
	o := paid.Options{File: file(t)}
	inner := &counter{}
	texts := make([]string, 700)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i%650)
	}
	var all [2][][]float32
	for start := range all {
		c := open(t, o)
		e := embedder(t, c, inner)
		var err error
		all[start], err = e.EmbedDocuments(t.Context(), texts)
		check.Must(t, err == nil && len(inner.texts) == 650, "start %d: %d texts embedded, %v", start, len(inner.texts), err)
		kept := slices.Clone(all[start][0])
		all[start][0][0] = 99
		again, _ := e.EmbedDocuments(t.Context(), texts[:1])
		check.Equal(t, again[0], kept, "the cache hands out its own memory")
		all[start][0] = kept
		_ = c.Close()
	}
	check.Equal(t, all[1], all[0])
	c := open(t, o)
	_, err := embedder(t, c, named{inner, "other"}).EmbedDocuments(t.Context(), texts[:1])
	check.True(t, err == nil && len(inner.texts) == 651, "another name: %d texts, %v", len(inner.texts), err)
	check.True(t, check.Err(paid.CachedEmbedder(named{inner, ""}, nil)) != nil, "an empty name was accepted")
}

// named is an embedder with another name.
type named struct {
	llm.NamedEmbedder
	name string
}

func (n named) Name() string { return n.name }

// requests is an embedder that sends two texts in a request, bills every request, and can fail or return wrong
// vectors.
type requests struct {
	mu        sync.Mutex
	delivered map[string]int // number of times that a text's vector was returned
	n         int
	bill      llm.Usage
	wrong     func(n int, vectors [][]float32) ([][]float32, error) // changes the vectors of the n-th request
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
	metering.RecordUsage(ctx, used)
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

// A failed request does not affect the requests before and beside it: their vectors are stored. The ledger has
// the cost of all, also of failed ones.
func TestVectorsAreKeptAsTheyCome(t *testing.T) {
	o := paid.Options{File: file(t)}
	r := &requests{}
	texts := numbered(300)
	for start := range 4 {
		c := open(t, o)
		e := embedder(t, c, r)
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
		if got := c.Account().Total; got.Usage.EmbeddedTokens != r.bill.EmbeddedTokens || got.Unknown != 0 {
			t.Errorf("start %d: billed %d tokens, in the ledger %+v", start, r.bill.EmbeddedTokens, got)
		}
		_ = c.Close()
	}
	for text, n := range r.delivered {
		check.Must(t, n == 1, "%q was asked for %d times after its vector had come", text, n-1)
	}
}

// Unusable vectors are refused with the name of the model and the remedy, and requested again the next time.
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
		e := embedder(t, open(t, paid.Options{File: file(t)}), r)
		r.wrong = func(_ int, v [][]float32) ([][]float32, error) { return spoil(v), nil }
		_, err := e.EmbedDocuments(t.Context(), numbered(2))
		check.True(t, errors.Is(err, transport.ErrBadVector) && strings.Contains(err.Error(), "name another"), "%s: %v", name, err)
		if name != "of two dimensions" { // a single vector has one
			check.True(t, check.Err(e.EmbedQuery(t.Context(), "q")) != nil, "%s: taken for a question", name)
		}
		r.wrong = nil
		out, err := e.EmbedDocuments(t.Context(), numbered(2))
		check.True(t, err == nil && slices.Equal(out[1], llmtest.HashVector("text 1", 4)), "%s: %v, %v", name, out, err)
	}
	empty := &requests{wrong: func(_ int, v [][]float32) ([][]float32, error) { return set(0)(v), nil }}
	e := embedder(t, open(t, paid.Options{File: file(t)}), empty)
	check.OK(t, check.Err(e.EmbedDocuments(t.Context(), []string{" "})), "zeros for a text that says nothing")
}

// A vector with another dimension than the first is refused; if the first was wrong, it is requested again at
// the next start.
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
		o := paid.Options{File: file(t)}
		c := open(t, o)
		check.Is(t, check.Err(embedder(t, c, r).EmbedDocuments(t.Context(), numbered(40))), transport.ErrBadVector, "request %d", at)
		_ = c.Close()
		out := check.Of(embedder(t, open(t, o), r).EmbedDocuments(t.Context(), numbered(40))).OK(t, "request %d", at)
		for i, v := range out {
			check.Equal(t, v, llmtest.HashVector(fmt.Sprint("text ", i), 4), "request %d: text %d", at, i)
		}
	}
	never := &requests{wrong: func(n int, v [][]float32) ([][]float32, error) {
		for i := range v {
			v[i] = slices.Repeat([]float32{1}, n)
		}
		return v, nil
	}}
	e := embedder(t, open(t, paid.Options{File: file(t)}), never)
	if _, err := e.EmbedDocuments(t.Context(), numbered(9)); !errors.Is(err, transport.ErrBadVector) || never.n > 5 { // vectors arrive in batches
		t.Errorf("%d requests: %v", never.n, err)
	}
}

// streaming is a model of a server that sends events.
func streaming(t *testing.T, events func(n int) string) (m llm.Model, requests *int) {
	t.Helper()
	requests = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("known?")) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"yes"}}]}`)
			return
		}
		*requests++
		_, _ = io.WriteString(w, events(*requests))
	}))
	t.Cleanup(s.Close)
	m, err := transport.OpenAI(transport.Config{Model: "m", BaseURL: s.URL + "/v1", Transport: transport.Options{Attempts: 2, BaseDelay: 1, MaxDelay: 1}})
	check.OK(t, err)
	return m, requests
}

// known makes a model's first reply, which has no reasoning.
func known(t *testing.T, m llm.Model) {
	t.Helper()
	check.OK(t, check.Err(m.Generate(t.Context(), llm.Prompt("known?"))))
}

func event(text string) string {
	return `data: {"choices":[{"delta":{"content":"` + text + `"}}]}` + "\n\n"
}

// An interrupted reply is in the account with the estimated usage of the part that arrived, and reserves as
// much of the limit as it may have used.
func TestBrokenStreamIsCharged(t *testing.T) {
	c := open(t, paid.Options{File: file(t), Tokens: 200})
	inner, _ := streaming(t, func(int) string { return event("In the year ") + event("of our lord ") + event("16") })
	known(t, inner)
	m := cachedModel(t, c, inner)
	req := llm.Prompt("When was the light lit?") // 6 tokens, and 4 for the message
	req.MaxTokens = 90
	_, err := llm.Stream(t.Context(), m, req, func(string) error { return nil })
	check.Must(t, errors.Is(err, llm.ErrTransient), "%v", err)
	a := c.Account()
	u := a.Total.Usage
	check.True(t, u.Estimated && u.Calls == 1 && u.PromptTokens == 6 && u.CompletionTokens >= 6, "in the account: %+v", u)
	check.True(t, a.Total.Unknown == 0 && len(a.Unknown) == 0, "unknown calls: %+v", a)
	check.Equal(t, a.Total.Most.Tokens(), 100, "tokens at most")
	for _, over := range []int{1, 0} {
		req = llm.Prompt("When was the dark lit?")
		req.MaxTokens = 90 + over
		_, err := llm.Stream(t.Context(), m, req, func(string) error { return nil })
		check.True(t, errors.Is(err, llm.ErrBudgetExceeded) == (over > 0), "%d more than the rest: %v", over, err)
	}
}

// Attempts that were interrupted before any output count each.
func TestBrokenAttemptsAreCharged(t *testing.T) {
	c := open(t, paid.Options{File: file(t)})
	inner, requests := streaming(t, func(int) string { return event("<think>In the year") })
	req := llm.Prompt("When was the light lit?")
	req.MaxTokens = 90
	_, err := llm.Stream(t.Context(), cachedModel(t, c, inner), req, func(string) error { return nil })
	a := c.Account().Total
	check.True(t, errors.Is(err, llm.ErrTransient) && *requests == 2 && a.Usage.Calls == 2 && a.Most.Tokens() == 200, "%d requests, %+v, %v", *requests, a, err)
}

// If two callers stream one question at the same time, it is asked once; if the first leaves, the second asks.
func TestStreamsShare(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		inner, requests := streaming(t, func(int) string {
			return event("one ") + event("two ") + event("three") + `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
		})
		known(t, inner)
		c := open(t, paid.Options{File: file(t)})
		m := cachedModel(t, c, inner)
		begun, joined := make(chan struct{}), make(chan struct{})
		var g errgroup.Group
		var first sync.Once
		enough := errors.New("enough")
		g.Go(func() error {
			_, err := llm.Stream(t.Context(), m, llm.Prompt("count"), func(string) error {
				first.Do(func() { close(begun) })
				<-joined
				if leaves {
					return enough
				}
				return nil
			})
			if leaves && errors.Is(err, enough) {
				err = nil
			}
			return err
		})
		<-begun
		shown := ""
		g.Go(func() error {
			ctx := &joining{t.Context(), joined, false}
			_, err := llm.Stream(ctx, m, llm.Prompt("count"), func(text string) error {
				shown += text
				return nil
			})
			return err
		})
		want := 1
		if leaves {
			want = 2
		}
		if err := g.Wait(); err != nil || strings.TrimSpace(shown) != "one two three" || *requests != want {
			t.Errorf("leaves: %v: %d requests, %q, %v", leaves, *requests, shown, err)
		}
	}
}

// joining is a context that signals when somebody waits for it.
type joining struct {
	context.Context
	waits  chan struct{}
	closed bool
}

func (j *joining) Done() <-chan struct{} {
	if !j.closed {
		j.closed = true
		close(j.waits)
	}
	return j.Context.Done()
}

// A model with a budget: the second answer comes from the journal.
func Example() {
	dir, err := os.MkdirTemp("", "paid")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	client, err := paid.Open(paid.Options{
		File: filepath.Join(dir, "replies.journal"), Run: "demo", Tokens: 100_000,
		Prices: &paid.Prices{Currency: "USD", Models: []paid.Price{{Model: "demo", AsOf: "2025-06-01", Prompt: 1000, Completion: 4000}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	model, err := client.Model(llmtest.NewScript("demo").Reply(llmtest.Any, "Paris"))
	if err != nil {
		fmt.Println(err)
		return
	}
	req := llm.Prompt("What is the capital of France?")
	req.Stage = "answer"
	for range 2 {
		reply, err := model.Generate(context.Background(), req)
		fmt.Println(reply.Text, err)
	}
	for _, line := range client.Account().Stages {
		fmt.Println(line.Name, line.Calls, line.Usage.PromptTokens, line.Usage.CompletionTokens, line.Cost)
	}
	// Output:
	// Paris <nil>
	// Paris <nil>
	// answer 1 8 2 0.0160
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
