// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// Handler decides what a model answers. Zero fields of the reply are filled
// in: [llm.FinishStop], and a usage counted with [llm.EstimateTokens].
type Handler func(req llm.Request) llm.Reply

// Matcher reports whether a rule applies to a request.
type Matcher func(req llm.Request) bool

// Any matches every request.
func Any(llm.Request) bool { return true }

// Contains matches requests whose messages hold all the given texts.
func Contains(texts ...string) Matcher {
	return func(req llm.Request) bool {
		all := allText(req)
		return !slices.ContainsFunc(texts, func(t string) bool { return !strings.Contains(all, t) })
	}
}

// Stage matches requests of one stage.
func Stage(name string) Matcher {
	return func(req llm.Request) bool { return req.Stage == name }
}

// Script is a model with prepared replies: the first rule that matches a request answers it, else [Default].
type Script struct {
	name string

	mu    sync.Mutex
	rules []*rule
	calls []llm.Request
}

type rule struct {
	match   Matcher
	handler Handler
	err     error
	replies []string // remaining replies; the last one repeats
}

// NewScript returns a model without rules.
func NewScript(name string) *Script { return &Script{name: name} }

// Reply answers matching requests with the replies in turn; the last one repeats.
func (s *Script) Reply(match Matcher, replies ...string) *Script {
	return s.add(&rule{match: match, replies: slices.Clone(replies)})
}

// Handle lets a function answer matching requests.
func (s *Script) Handle(match Matcher, h Handler) *Script {
	return s.add(&rule{match: match, handler: h})
}

// Fail answers matching requests with an error.
func (s *Script) Fail(match Matcher, err error) *Script {
	return s.add(&rule{match: match, err: err})
}

func (s *Script) add(r *rule) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, r)
	return s
}

// Calls returns the number of requests so far.
func (s *Script) Calls() int { return len(s.Requests()) }

// Requests returns the requests so far, in the order of arrival.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Name implements [llm.Model].
func (s *Script) Name() string { return s.name }

// Generate implements [llm.Model].
func (s *Script) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if ctx.Err() != nil {
		return llm.Reply{}, llm.Canceled(ctx, llm.BilledNo)
	}
	handler, err := s.answer(req)
	if err != nil {
		return llm.Reply{}, err
	}
	reply := complete(req, handler(req))
	metering.RecordUsage(ctx, reply.Usage)
	return reply, nil
}

// answer returns the handler or the error of the first matching rule.
func (s *Script) answer(req llm.Request) (Handler, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, req)
	at := slices.IndexFunc(s.rules, func(r *rule) bool { return r.match(req) })
	if at < 0 {
		return Default, nil
	}
	r := s.rules[at]
	if r.handler != nil || r.err != nil {
		return r.handler, r.err
	}
	text := ""
	if len(r.replies) > 0 {
		text = r.replies[0]
		r.replies = r.replies[min(1, len(r.replies)-1):]
	}
	return func(llm.Request) llm.Reply { return llm.Reply{Text: text} }, nil
}

// complete fills in the finish reason and the usage if the handler left them empty.
func complete(req llm.Request, reply llm.Reply) llm.Reply {
	reply.Finish = cmp.Or(reply.Finish, llm.FinishStop)
	if reply.Usage == (llm.Usage{}) {
		reply.Usage = llm.Usage{
			PromptTokens:     llm.EstimateTokens(allText(req)),
			CompletionTokens: llm.EstimateTokens(reply.Text),
		}
	}
	reply.Usage.Calls = 1
	return reply
}

// Default answers a request for JSON with {}, and other requests by repeating the last message.
func Default(req llm.Request) llm.Reply {
	if len(req.Schema) > 0 || req.JSON {
		return llm.Reply{Text: "{}"}
	}
	var last []rune
	if n := len(req.Messages); n > 0 {
		last = []rune(req.Messages[n-1].Text)
	}
	return llm.Reply{Text: "You said: " + string(last[:min(len(last), 200)])}
}

func allText(req llm.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		b.WriteString(m.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// HashVector returns a deterministic unit vector: every word adds ±1 to one component, so texts with common
// words are similar. The vector of a text without words is the unit vector of the first component.
func HashVector(text string, dimensions int) []float32 {
	v := make([]float32, dimensions)
	if dimensions == 0 {
		return v
	}
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word))
		sum := h.Sum64()
		sign := float32(1)
		if sum>>63 == 1 {
			sign = -1
		}
		v[sum%uint64(dimensions)] += sign
	}
	norm := 0.0
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	if norm == 0 {
		v[0] = 1
		return v
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(norm))
	}
	return v
}

// Call is a recorded call of a real model.
type Call struct{ System, User, Reply string }

// Data returns the text between the first pair of a fence's marks in the user message.
func (c Call) Data() string {
	_, rest, _ := strings.Cut(c.User, "]\n")
	text, _, _ := strings.Cut(rest, "\n[/")
	return text
}

// Calls returns the recorded calls in the folder MODEL_REPLIES_DIR (*.jsonl, each line with system, user and
// reply). It skips the test if the variable is not set.
func Calls(tb testing.TB) (out []Call) {
	tb.Helper()
	dir := os.Getenv("MODEL_REPLIES_DIR")
	if dir == "" {
		tb.Skip("MODEL_REPLIES_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no file *.jsonl in the folder MODEL_REPLIES_DIR=%s", dir)
	}
	for _, name := range files {
		err := journal.EachLine(os.DirFS(dir), filepath.Base(name), 0, func(_ int, c Call) error {
			out = append(out, c)
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// TestModel checks the contract of [llm.Model] with a few short requests, which cost a little with a paid
// model.
func TestModel(t *testing.T, m llm.Model) {
	t.Helper()
	ask := func(ctx context.Context) (llm.Reply, error) {
		return m.Generate(ctx, llm.Request{
			Messages: []llm.Message{
				{Role: llm.System, Text: "You answer in one word."},
				{Role: llm.User, Text: "Say hello."},
			},
			Stage: "conformance",
		})
	}
	t.Run("Name", func(t *testing.T) {
		if first := m.Name(); first == "" || first != m.Name() {
			t.Errorf("Name returned %q, want a name that is neither empty nor changes", m.Name())
		}
	})
	t.Run("Reply", func(t *testing.T) {
		reply, err := ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		checkReply(t, reply)
	})
	t.Run("Pieces", func(t *testing.T) {
		req := llm.Prompt("Count from one to three.")
		var text strings.Builder
		reply, err := llm.Stream(t.Context(), m, req, func(piece string) error {
			text.WriteString(piece)
			return nil
		})
		if err != nil || text.String() != reply.Text {
			t.Errorf("the pieces are %q and the reply is %q, want equal texts; error %v", text.String(), reply.Text, err)
		}
		full := errors.New("the caller stops")
		if _, err := llm.Stream(t.Context(), m, req, func(string) error { return full }); !errors.Is(err, full) {
			t.Errorf("Stream returned %v, want the error of piece", err)
		}
	})
	t.Run("RequestIsNotChanged", func(t *testing.T) {
		stop := make([]string, 1, 4)
		stop[0] = "\n\n\n"
		messages := make([]llm.Message, 1, 4)
		messages[0] = llm.Message{Role: llm.User, Text: "Say\nhello."}
		req := llm.Request{Messages: messages, Stop: stop}
		if _, err := m.Generate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if messages[0].Text != "Say\nhello." || stop[0] != "\n\n\n" || messages[:2][1] != (llm.Message{}) {
			t.Error("Generate changed the request")
		}
	})
	t.Run("Cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		reply, err := ask(ctx)
		var e *llm.Error
		if !errors.Is(err, context.Canceled) || !errors.As(err, &e) {
			t.Errorf("reply %+v, error %v, want an *llm.Error that is context.Canceled", reply, err)
		}
	})
	t.Run("Concurrent", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				reply, err := ask(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				checkReply(t, reply)
			})
		}
		wg.Wait()
	})
}

func checkReply(t *testing.T, reply llm.Reply) {
	t.Helper()
	if reply.Text == "" || reply.Finish != llm.FinishStop {
		t.Errorf("reply %+v, want text and finish %q", reply, llm.FinishStop)
	}
	if u := reply.Usage; u.Calls+u.CachedCalls < 1 || u.Calls > 0 && u.PromptTokens == 0 {
		t.Errorf("usage %+v, want a call and its tokens", u)
	}
}
