// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// randomFault returns one of the ways in which a provider can fail.
func randomFault(rng *rand.Rand) llmtest.Fault {
	pick := func(all ...string) string { return all[rng.IntN(len(all))] }
	bodies := []string{"", " ", "{", "null", "[]", `{"error":null}`, `{"error":"boom"}`, `{"error":{"code":"insufficient_quota"}}`,
		`{"error":{"code":429}}`, `{"error":{"code":"context_length_exceeded","message":"x"}}`, `{"choices":[]}`, `{"choices":[{}]}`,
		`{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`, `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":-5}}`,
		`{"message":{"content":"half"},"done":false}`, `{"done":true}`, `{"data":[]}`, `{"embeddings":[[]]}`, "<html>", "\xff\xfe", strings.Repeat("x", 5000)}
	f := llmtest.Fault{}
	switch rng.IntN(12) {
	case 0: // no fault
	case 1, 2:
		f.Status = []int{301, 400, 401, 404, 408, 409, 413, 429, 429, 500, 500, 501, 502, 503, 503, 504, 529, 599}[rng.IntN(18)]
		f.Body = pick(bodies...)
		f.Header = map[string]string{"Retry-After": pick("", "0", "1", "7", "119", "121", "-3", "soon", "1e400", "Wed, 21 Oct 2015 07:28:00 GMT", "Sat, 01 Jan 2000 00:05:00 GMT")}
	case 3:
		f.Status, f.Body = 200, pick(bodies...)
	case 4:
		f.Reset = true
	case 5:
		f.Hang = true
	case 6:
		f.Delay = time.Duration(rng.IntN(400)) * time.Second
	case 7:
		f.CutAfter = 1 + rng.IntN(200)
	case 8:
		f.StallAfter = 1 + rng.IntN(200)
	case 9:
		f.EmptyChoices = true
	case 10:
		f.NoUsage = true
	case 11:
		f.Reply = &llm.Reply{Text: pick("", "x", "<think>", "<think>a</think>b", `{"a":`), Finish: pick("stop", "length", "content_filter", "refusal", "", "odd")}
	}
	return f
}

// TestRandomFaultScripts sends some questions through the whole stack (client, transport) to a server that
// fails at random, with a virtual clock. There must be no panic, no wait beyond all deadlines, errors of known
// kinds, and a ledger that agrees with the server's bill except for calls marked as unknown.
// WILDGRAPH_FAULT_SCRIPTS sets the number of runs.
func TestRandomFaultScripts(t *testing.T) {
	scripts := 1000
	if text := os.Getenv("WILDGRAPH_FAULT_SCRIPTS"); text != "" {
		scripts = check.Of(strconv.Atoi(text)).OK(t, "WILDGRAPH_FAULT_SCRIPTS=%q: want a number", text)
	}
	var sum tally
	const shards = 4 // most of the time they wait for the disk
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(strconv.Itoa(shard), func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "j")
				for seed := shard; seed < scripts && !t.Failed(); seed += shards {
					synctest.Test(t, func(t *testing.T) { runScript(t, uint64(seed), path, &sum) })
					if t.Failed() {
						t.Logf("script %d", seed)
					}
					_ = os.Remove(path)
				}
			})
		}
	})
	t.Logf("%d scripts: %d requests, %d calls billed, %d in the ledger, %d attempts marked unknown, %d replies, %d errors",
		scripts, sum.requests, sum.billed, sum.entered, sum.unknown, sum.replies, sum.errors)
	check.True(t, sum.replies != 0 && sum.errors != 0 && sum.unknown != 0, "the scripts do not reach all outcomes")
}

type tally struct {
	mu                                                  sync.Mutex
	requests, billed, entered, unknown, replies, errors int
}

func runScript(t *testing.T, seed uint64, path string, sum *tally) {
	rng := rand.New(rand.NewPCG(seed, 31))
	s := llmtest.NewServer(llmtest.ServerOptions{InMemory: true})
	defer s.Close()
	for range rng.IntN(24) {
		s.Fail(randomFault(rng))
	}
	client := check.Of(paid.Open(paid.Options{File: path, Tokens: 1e9})).OK(t)
	defer client.Close()
	kind := []string{"openai", "ollama"}[rng.IntN(2)]
	p := transport.Provider{Kind: kind, Config: transport.Config{
		BaseURL:   map[string]string{"openai": s.OpenAIURL(), "ollama": s.URL}[kind],
		Transport: transport.Options{Base: s.Transport(), MaxBody: 4096},
	}}
	m, err := p.Model("m")
	if err == nil {
		m, err = client.Model(m)
	}
	check.OK(t, err)
	start := time.Now()
	var wg sync.WaitGroup
	for i := range 1 + rng.IntN(4) {
		patience := time.Duration(0)
		if rng.IntN(4) == 0 {
			patience = time.Duration(1 + rng.Int64N(600e9))
		}
		wg.Go(func() {
			ctx := t.Context()
			if patience > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, patience)
				defer cancel()
			}
			req := llm.Prompt(fmt.Sprintf("question-%d?", i))
			req.Question = fmt.Sprintf("question-%d?", i)
			reply, err := m.Generate(ctx, req)
			var e *llm.Error
			sum.mu.Lock()
			defer sum.mu.Unlock()
			switch {
			case err == nil && reply.Text != "" && reply.Finish == llm.FinishStop:
				sum.replies++
			case err != nil && errors.As(err, &e) && e.Kind != "":
				sum.errors++
			default:
				t.Errorf("reply %+v, error %v", reply, err)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	check.True(t, took <= 2*time.Hour, "took %v", took)
	synctest.Wait() // calls whose callers gave up write their last entries
	audit(t, s, client.Account(), sum)
}

// audit compares the ledger with the server's bill, question by question.
func audit(t *testing.T, s *llmtest.Server, a paid.Account, sum *tally) {
	sum.mu.Lock()
	defer sum.mu.Unlock()
	bill, billed := s.Bill().ByKey, map[string]llm.Usage{}
	seen := map[string]bool{}
	for _, r := range s.Requests() {
		hash := sha256.Sum256([]byte(r.Path + "\n" + string(r.Body)))
		key := hex.EncodeToString(hash[:])
		at := strings.Index(string(r.Body), "question-")
		if !seen[key] {
			question := string(r.Body[at : at+len("question-0?")])
			billed[question] = billed[question].Add(bill[key])
			seen[key] = true
		}
		sum.requests++
	}
	for _, q := range a.Questions {
		b := billed[q.Name]
		missing := b.Calls - q.Usage.Calls
		tokens := func(u llm.Usage) int { return u.PromptTokens + u.CompletionTokens }
		switch {
		case q.Usage.Estimated: // the reply has no figures, or invented ones: an estimate
		case missing < 0 || missing > q.Unknown:
			t.Errorf("%s: billed %+v, ledger %+v", q.Name, b, q)
		case tokens(q.Usage) > tokens(b) || missing == 0 && tokens(q.Usage) != tokens(b):
			t.Errorf("%s: billed %+v, ledger %+v", q.Name, b, q)
		}
		sum.billed, sum.entered, sum.unknown = sum.billed+b.Calls, sum.entered+q.Usage.Calls, sum.unknown+q.Unknown
	}
}

// A chat model and an embedder of one OpenAI-compatible server, which is overloaded once and then asked again.
func Example() {
	server := llmtest.NewServer(llmtest.ServerOptions{Key: "secret"})
	defer server.Close()
	server.Fail(llmtest.Fault{Status: http.StatusServiceUnavailable})
	provider := transport.Provider{Kind: "openai", Config: transport.Config{
		BaseURL: server.OpenAIURL(), Key: "secret", Transport: transport.Options{BaseDelay: time.Millisecond},
	}}
	model, err := provider.Model("some-model")
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Generate(context.Background(), llm.Prompt("hello"))
	fmt.Println(reply.Text, len(server.Requests()), "requests", err)

	embedder, err := provider.Embedder("some-embedder")
	if err != nil {
		fmt.Println(err)
		return
	}
	vectors, err := embedder.EmbedDocuments(context.Background(), []string{"one", "two"})
	fmt.Println(len(vectors), err)
	// Output:
	// You said: hello 2 requests <nil>
	// 2 <nil>
}
