// SPDX-License-Identifier: Apache-2.0

package langchain

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/embeddings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// The tests below are named after the known traps of langchaingo v0.1.14:
// O for its OpenAI client, L for its Ollama client, S for shared parts.
//
// Not reachable, because WildGraph uses parts of its own instead:
//
//	S4  the token splitter downloads its vocabulary; CountTokens logs    graphrag/chunk; CountTokens is injected
//	S5  the token splitter panics on <|endoftext|> in a text              graphrag/chunk
//	S6  overlap ≥ size never ends; runes are cut apart                    graphrag/chunk
//	S7  splitters give no offsets                                         graphrag/chunk
//	S8  vector stores have no delete, scores of either sign               graphrag/vector, graphrag/store
//	S9  callbacks are set on the client, not per call                     llm.Meter, paid.Ledger

func debugLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func trap(t *testing.T, kind string, c Config) (*llmtest.Server, llm.Model) {
	t.Helper()
	s := llmtest.NewServer(llmtest.ServerOptions{})
	t.Cleanup(s.Close)
	m, err := provider(s, kind, c).Model("test-model")
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

// O1: statuses and Retry-After are flattened to text.
func TestTrapO1StatusSurvives(t *testing.T) {
	s, m := trap(t, "openai", Config{})
	s.Fail(llmtest.TooManyRequests(600))
	_, err := m.Generate(t.Context(), llm.Prompt("x"))
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != 429 || e.RetryAfter.Seconds() != 600 {
		t.Errorf("%v", err)
	}
}

// O2: numbers in the text of an error are taken for its status.
func TestTrapO2TextIsNoStatus(t *testing.T) {
	s, m := trap(t, "openai", Config{})
	s.Fail(llmtest.Fault{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens, however your messages resulted in 14290 tokens"}}`})
	if _, err := m.Generate(t.Context(), llm.Prompt("x")); !errors.Is(err, llm.ErrContextLength) || len(s.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
	s.Fail(llmtest.Fault{Status: 500, Body: `{"error":{"message":"lost 14000 tokens"}}`})
	if _, err := m.Generate(t.Context(), llm.Prompt("x")); err != nil {
		t.Errorf("a 500 that mentions 400 was not retried: %v", err)
	}
}

// O3: a cancelled or expired call no longer satisfies errors.Is.
func TestTrapO3CancelIsCancel(t *testing.T) {
	s, m := trap(t, "openai", Config{})
	s.Fail(llmtest.Fault{Hang: true})
	ctx, cancel := context.WithTimeout(t.Context(), 20*1e6)
	defer cancel()
	if _, err := m.Generate(ctx, llm.Prompt("x")); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, llm.ErrTimeout) {
		t.Errorf("%v", err)
	}
}

// O4 (streams that end early pass as answers) cannot occur: nothing streams.
func TestTrapO4NothingStreams(t *testing.T) {
	for _, kind := range []string{"openai", "ollama"} {
		s, m := trap(t, kind, Config{})
		if _, err := m.Generate(t.Context(), llm.Prompt("x")); err != nil {
			t.Fatal(err)
		}
		if sent(t, s)["stream"] == true {
			t.Errorf("%s streams", kind)
		}
	}
}

// O5: top_p and a seed of 0 are dropped.
func TestTrapO5TopPAndSeedZeroAreSent(t *testing.T) {
	s, m := trap(t, "openai", Config{})
	req := llm.Prompt("x")
	req.TopP, req.Seed = ptr(0.5), ptr(int64(0))
	if _, err := m.Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if b := sent(t, s); b["top_p"] != 0.5 || b["seed"] != 0.0 {
		t.Errorf("%v", b)
	}
}

// O6: a temperature of 0 is sent when none was set.
func TestTrapO6NoTemperatureUnlessSet(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{})
	defer s.Close()
	for _, name := range []string{"o4-mini", "gpt-4o", "gpt-5-mini"} {
		m, err := provider(s, "openai", Config{}).Model(name)
		if err != nil {
			t.Fatal(err)
		}
		req := llm.Prompt("x")
		for _, set := range []bool{false, true} {
			if set {
				req.Temperature = ptr(0.0)
			}
			if _, err := m.Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if _, has := sent(t, s)["temperature"]; has != set {
				t.Errorf("%s: set %v, sent %v", name, set, has)
			}
		}
	}
}

// O7: there is no way to send further fields.
func TestTrapO7ExtraFieldsAreSent(t *testing.T) {
	s, m := trap(t, "openai", Config{Extra: map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": false}}})
	if _, err := m.Generate(t.Context(), llm.Prompt("x")); err != nil {
		t.Fatal(err)
	}
	if _, ok := sent(t, s)["chat_template_kwargs"].(map[string]any); !ok {
		t.Errorf("%v", sent(t, s))
	}
}

// O8: embeddings come in the order of the reply, not of their index.
func TestTrapO8EmbeddingsAreReordered(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{})
	defer s.Close()
	e, err := provider(s, "openai", Config{}).Embedder("m")
	if err != nil {
		t.Fatal(err)
	}
	s.Fail(llmtest.Fault{Shuffle: true})
	got, err := e.EmbedDocuments(t.Context(), []string{"one", "two", "three"})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"one", "two", "three"} {
		if !slices.Equal(got[i], llmtest.HashVector(text, llmtest.DefaultDimensions)) {
			t.Errorf("text %d has the vector of another", i)
		}
	}
}

// O9: OPENAI_* is read behind the caller's back, and no key is an error.
func TestTrapO9EnvironmentIsNotRead(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-from-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	t.Setenv("OPENAI_MODEL", "other")
	t.Setenv("OPENAI_ORGANIZATION", "org-secret")
	s, m := trap(t, "openai", Config{})
	if _, err := m.Generate(t.Context(), llm.Prompt("x")); err != nil {
		t.Fatal(err)
	}
	r := s.Requests()[0]
	if h := r.Header; h.Get("Authorization") != "" || h.Get("OpenAI-Organization") != "" || sent(t, s)["model"] != "test-model" {
		t.Errorf("sent %v", h)
	}
}

// O10: without a model, gpt-3.5-turbo and ada-002 are used silently.
func TestTrapO10ModelIsRequired(t *testing.T) {
	if _, err := OpenAI(Config{}); err == nil {
		t.Error("chat without model")
	}
	if _, err := OpenAIEmbedder(Config{}); err == nil {
		t.Error("embedder without model")
	}
}

// O11: the HTTP client has no timeout. See also TestTimeoutAndCancel.
func TestTrapO11DeadlineOverAllAttempts(t *testing.T) {
	o := quick
	o.Deadline = 40 * 1e6
	s, m := trap(t, "openai", Config{Transport: o})
	s.Fail(llmtest.Fault{Hang: true})
	if _, err := m.Generate(t.Context(), llm.Prompt("x")); !errors.Is(err, llm.ErrTimeout) {
		t.Errorf("%v", err)
	}
}

// O12: no retry, no rate limit, no limit of concurrency.
func TestTrapO12TransportRetriesAndLimits(t *testing.T) {
	for _, kind := range []string{"openai", "ollama"} {
		c := Config{}
		c.Transport.RequestsPerMinute = 30
		inMemory(t, kind, c, func(t *testing.T, s *llmtest.Server, m llm.Model) {
			s.Fail(llmtest.Fault{Status: 503}, llmtest.Fault{Reset: true})
			start := time.Now()
			if _, err := m.Generate(t.Context(), llm.Prompt("x")); err != nil || len(s.Requests()) != 3 {
				t.Errorf("%d requests, %v", len(s.Requests()), err)
			}
			if took := time.Since(start); took.Round(time.Second) < 4*time.Second {
				t.Errorf("three requests at 30 a minute took %v", took)
			}
		})
	}
}

// L1: a connection lost in mid-answer is an empty success.
func TestTrapL1LostConnectionIsNoAnswer(t *testing.T) {
	o := quick
	o.Attempts = 1
	s, m := trap(t, "ollama", Config{Transport: o})
	s.Fail(llmtest.Fault{CutAfter: 40})
	if reply, err := m.Generate(t.Context(), llm.Prompt("x")); !errors.Is(err, llm.ErrTransient) {
		t.Errorf("%+v, %v", reply, err)
	}
	// A stream without its last piece, on a connection that ended well.
	s.Fail(llmtest.Fault{Status: 200, Body: `{"message":{"content":"half"},"done":false}` + "\n"})
	if reply, err := m.Generate(t.Context(), llm.Prompt("x")); !errors.Is(err, llm.ErrTransient) {
		t.Errorf("%+v, %v", reply, err)
	}
}

// L2: a 500 with an empty body is an empty success.
func TestTrapL2EmptyErrorIsAnError(t *testing.T) {
	o := quick
	o.Attempts = 1
	s, m := trap(t, "ollama", Config{Transport: o})
	s.Fail(llmtest.Fault{Status: 500, Body: " "})
	if reply, err := m.Generate(t.Context(), llm.Prompt("x")); !errors.Is(err, llm.ErrTransient) {
		t.Errorf("%+v, %v", reply, err)
	}
}

// L3: a line over 512 kB is an empty success.
func TestTrapL3LongReplyArrives(t *testing.T) {
	s, m := trap(t, "ollama", Config{})
	long := strings.Repeat("long ", 200_000)
	s.Fail(llmtest.Fault{Reply: &llm.Reply{Text: long}})
	reply, err := m.Generate(t.Context(), llm.Prompt("x"))
	if err != nil || reply.Text != long {
		t.Errorf("%d of %d bytes, %v", len(reply.Text), len(long), err)
	}
}

// L4: a bad URL ends the process.
func TestTrapL4BadURLIsAnError(t *testing.T) {
	if _, err := Ollama(Config{Model: "m", BaseURL: "http://[::1"}); err == nil {
		t.Error("accepted")
	}
}

// L5: one embedding request per text.
func TestTrapL5EmbeddingsAreBatched(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{})
	defer s.Close()
	e, err := provider(s, "ollama", Config{}).Embedder("m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.EmbedDocuments(t.Context(), []string{"one", "two", "three"}); err != nil || len(s.Requests()) != 1 {
		t.Errorf("%d requests, %v", len(s.Requests()), err)
	}
}

// L6: the context window is the server's, and longer prompts are cut.
func TestTrapL6ContextIsSent(t *testing.T) {
	s, m := trap(t, "ollama", Config{ContextTokens: 16384})
	if _, err := m.Generate(t.Context(), llm.Prompt("x")); err != nil {
		t.Fatal(err)
	}
	if o, _ := sent(t, s)["options"].(map[string]any); o["num_ctx"] != 16384.0 {
		t.Errorf("%v", o)
	}
}

// S3: a cache's key does not know the client's model or address, and hits count as
// paid again.
func TestTrapS3CacheTellsClientsApart(t *testing.T) {
	c, err := paid.Open(paid.Options{File: filepath.Join(t.TempDir(), "j")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for round := range 2 {
		for _, text := range []string{"from one", "from two"} {
			var s *llmtest.Server
			if round == 0 {
				s = llmtest.NewServer(llmtest.ServerOptions{InMemory: true, Handler: func(llm.Request) llm.Reply { return llm.Reply{Text: text} }})
				defer s.Close()
			} else { // whoever asks it now asks for a fault
				s = llmtest.NewServer(llmtest.ServerOptions{InMemory: true, Key: "nobody has it"})
				defer s.Close()
			}
			for _, name := range []string{"a", "b"} {
				o := quick
				o.Base = s.Transport()
				client, err := OpenAI(Config{Model: name, BaseURL: "http://" + strings.Fields(text)[1] + ".example/v1", AllowHTTP: true, Transport: o})
				if err != nil {
					t.Fatal(err)
				}
				m, err := c.Model(client)
				if err != nil {
					t.Fatal(err)
				}
				reply, err := m.Generate(t.Context(), llm.Prompt("x"))
				if err != nil || reply.Text != text {
					t.Errorf("round %d, %s: %+v, %v", round, m.Name(), reply, err)
				}
			}
		}
	}
	if got := c.Account().Total.Calls; got != 4 {
		t.Errorf("%d calls, want four", got)
	}
}

// S1: EmbedDocuments overwrites the caller's texts. Ours must not, and must
// fit in where langchaingo's is expected.
func TestTrapS1TextsAreNotChanged(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{})
	defer s.Close()
	ours, err := provider(s, "openai", Config{}).Embedder("m")
	if err != nil {
		t.Fatal(err)
	}
	var e embeddings.Embedder = ours
	texts := []string{"a\nb", "", "  "}
	if _, err := e.EmbedDocuments(t.Context(), texts); err != nil || texts[0] != "a\nb" || texts[1] != "" {
		t.Errorf("%q, %v", texts, err)
	}
	if body := string(s.Requests()[0].Body); !strings.Contains(body, `"a\nb"`) {
		t.Errorf("sent %s", body)
	}
}

// S2: EmbedQuery indexes an empty result.
func TestTrapS2EmptyResultIsAnError(t *testing.T) {
	bothEmbedders(t, Config{}, func(t *testing.T, s *llmtest.Server, e llm.NamedEmbedder) {
		bad := llmtest.Fault{Status: 200, Body: `{"data":[],"embeddings":[]}`}
		s.Fail(bad, bad, bad)
		if _, err := e.EmbedQuery(t.Context(), "x"); !errors.Is(err, transport.ErrBadVector) {
			t.Errorf("%v", err)
		}
	})
}
