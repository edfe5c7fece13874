// SPDX-License-Identifier: Apache-2.0

package metering

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/trace"

	"github.com/wildgraph/wildgraph/llm"
)

// Meter adds up the usage of [Metered] models and embedders under a context. It also counts the usage in cached
// replies, so that a job shows the same figures if it was interrupted. It is safe for concurrent use.
type Meter struct {
	outer *Meter

	mu     sync.Mutex
	stages map[string]llm.Usage
}

// contextKey is the key of a value in a context.
type contextKey string

const (
	meterKey    contextKey = "meter"
	countedKey  contextKey = "counted" // the meter with which a model around this one counts the call
	sampleKey   contextKey = "sample"
	freshKey    contextKey = "fresh reply"
	billKey     contextKey = "bill"
	stageKey    contextKey = "stage"
	questionKey contextKey = "question"
)

// valueOf returns the value of ctx under a key, or the zero value.
func valueOf[T any](ctx context.Context, key contextKey) T {
	v, _ := ctx.Value(key).(T)
	return v
}

// WithMeter adds a meter for everything under the returned context. Meters of ctx keep counting too.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{outer: valueOf[*Meter](ctx, meterKey)}
	return context.WithValue(ctx, meterKey, m), m
}

// Usage returns the sum so far.
func (m *Meter) Usage() (sum llm.Usage) {
	for _, u := range m.Stages() {
		sum = sum.Add(u)
	}
	return sum
}

// Stages returns the sums so far by stage of the request; embeddings are under [StageEmbed]. It is nil
// without a call.
func (m *Meter) Stages() map[string]llm.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.stages)
}

// StageEmbed is the stage under which a [Meter] counts embedded texts.
const StageEmbed = "embed"

// Unread adds n replies of a stage, or records in a reply, that could not be read to the meters of ctx.
func Unread(ctx context.Context, stage string, n int) {
	if n > 0 {
		meter(ctx, stage, llm.Usage{Unread: n})
	}
}

func meter(ctx context.Context, stage string, u llm.Usage) {
	for m := valueOf[*Meter](ctx, meterKey); m != nil; m = m.outer {
		m.add(stage, u)
	}
}

func (m *Meter) add(stage string, u llm.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stages == nil {
		m.stages = make(map[string]llm.Usage)
	}
	m.stages[stage] = m.stages[stage].Add(u)
}

// byStream implements Generate by calling Stream.
type byStream struct{ llm.Streamer }

func (m byStream) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	return m.Stream(ctx, req, nil)
}

// Metered returns m with every call counted by the meters of its context, and [Traced]. A call of a model
// that is already metered is counted once.
func Metered(m llm.Model) llm.Model { return byStream{metered{m}} }

type metered struct{ llm.Model }

// Stream implements [llm.Streamer].
func (m metered) Stream(ctx context.Context, req llm.Request, piece func(string) error) (llm.Reply, error) {
	own := valueOf[*Meter](ctx, meterKey)
	outer, counted := ctx.Value(countedKey).(*Meter)
	model := m.Model
	if !counted {
		model = Traced(model)
	}
	reply, err := llm.Stream(context.WithValue(ctx, countedKey, own), model, req, piece)
	if err == nil {
		reply.Usage = reply.UsageFor(req)
	}
	for ; own != nil && own != outer; own = own.outer {
		own.add(req.Stage, usageOf(reply, err))
	}
	return reply, err
}

// usageOf returns the usage of a call, failed or not.
func usageOf(reply llm.Reply, err error) llm.Usage {
	if failed := (*llm.Error)(nil); errors.As(err, &failed) {
		return failed.Usage
	}
	return reply.Usage
}

// Traced returns m with every call recorded in the trace of its context, by OpenTelemetry's conventions for
// generative AI.
func Traced(m llm.Model) llm.Model { return byStream{traced{m}} }

type traced struct{ llm.Model }

// Stream implements [llm.Streamer].
func (m traced) Stream(ctx context.Context, req llm.Request, piece func(string) error) (llm.Reply, error) {
	stage := slog.String("wildgraph.stage", cmp.Or(req.Stage, "chat"))
	about := []slog.Attr{slog.String("gen_ai.operation.name", "chat"), slog.String("gen_ai.request.model", m.Name()), stage}
	if of := modelName.FindStringSubmatch(m.Name()); of != nil {
		about[1] = slog.String("gen_ai.request.model", of[3])
		about = append(about, slog.String("gen_ai.provider.name", of[1]), slog.String("server.address", of[2]))
	}
	ctx, span := trace.Start(ctx, "chat", about...)
	reply, err := llm.Stream(ctx, m.Model, req, piece)
	took := usageOf(reply, err)
	span.Set(slog.Int("gen_ai.usage.input_tokens", took.PromptTokens), slog.Int("gen_ai.usage.output_tokens", took.CompletionTokens), slog.Int("wildgraph.cached_calls", took.CachedCalls))
	span.End(err)
	return reply, err
}

// modelName matches a name such as "openai:https://api.openai.com/v1:gpt-5-mini", with or without settings in
// braces.
var modelName = regexp.MustCompile(`^(\w+):https?://(\[[^\]]*\]|[^/:]+)(?::\d+)?(?:/[^:]*)?:([^{]+)`)

// MeteredEmbedder returns e with the tokens of every text counted by the meters of its context: vectors come
// without usage.
func MeteredEmbedder(e llm.Embedder, count func(string) int) llm.Embedder {
	return meteredEmbedder{e, count}
}

type meteredEmbedder struct {
	llm.Embedder
	count func(string) int
}

func (m meteredEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return embedMetered(ctx, m, texts, func(ctx context.Context) ([][]float32, error) { return m.Embedder.EmbedDocuments(ctx, texts) })
}

func (m meteredEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return embedMetered(ctx, m, []string{text}, func(ctx context.Context) ([]float32, error) { return m.Embedder.EmbedQuery(ctx, text) })
}

// embedMetered counts texts and records their embedding in the trace.
func embedMetered[T any](ctx context.Context, m meteredEmbedder, texts []string, embed func(context.Context) (T, error)) (T, error) {
	u := llm.Usage{Estimated: true}
	for _, t := range texts {
		u.EmbeddedTokens += m.count(t)
	}
	meter(ctx, StageEmbed, u)
	return trace.Do(ctx, "embeddings", embed,
		slog.String("gen_ai.operation.name", "embeddings"), slog.Int("gen_ai.usage.input_tokens", u.EmbeddedTokens), slog.Int("wildgraph.texts", len(texts)))
}

// WithSample makes models of paid.Client return sample n of every request under the context, drawn with a seed
// that is n higher; 0 is the first sample.
func WithSample(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, sampleKey, n)
}

// SampleOf returns the number set by [WithSample].
func SampleOf(ctx context.Context) int { return valueOf[int](ctx, sampleKey) }

// WithFreshReply makes caches ignore their replies and store a new one: an earlier reply was unusable, though
// it looked complete.
func WithFreshReply(ctx context.Context) context.Context {
	return context.WithValue(ctx, freshKey, true)
}

// WantsFreshReply reports whether caches must ignore their replies, see [WithFreshReply].
func WantsFreshReply(ctx context.Context) bool { return valueOf[bool](ctx, freshKey) }

// Bill records the usage of all attempts of one call, which the transport reports: a reply has its usage, but
// vectors and failed attempts have none.
type Bill struct {
	// Retry, if set before use, is called before each further attempt; its error ends the call.
	Retry func() error

	mu      sync.Mutex
	known   llm.Usage
	unknown int
	longest int
}

// Known returns the usage that providers reported.
func (b *Bill) Known() llm.Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known
}

// Unknown returns the number of attempts that may have been billed without usage: timeouts and lost
// connections.
func (b *Bill) Unknown() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unknown
}

// Longest returns the number of tokens of the longest reply among the attempts.
func (b *Bill) Longest() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.longest
}

// add records an attempt; it does nothing if b is nil, for a call without a bill.
func (b *Bill) add(u llm.Usage, unknown int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known, b.unknown = b.known.Add(u), b.unknown+unknown
	b.longest = max(b.longest, u.CompletionTokens)
}

// WithBill returns a context under which the attempts of calls are recorded on b.
func WithBill(ctx context.Context, b *Bill) context.Context {
	return context.WithValue(ctx, billKey, b)
}

// RecordUsage adds the usage of an attempt to the bill of ctx. Transports call it once per attempt, and so do
// models without a transport.
func RecordUsage(ctx context.Context, u llm.Usage) { valueOf[*Bill](ctx, billKey).add(u, 0) }

// RecordUnknown records an attempt that may have been billed.
func RecordUnknown(ctx context.Context) { valueOf[*Bill](ctx, billKey).add(llm.Usage{}, 1) }

// MayRetry returns the error of [Bill.Retry] of ctx. Transports call it before every attempt but the first.
func MayRetry(ctx context.Context) error {
	if b := valueOf[*Bill](ctx, billKey); b != nil && b.Retry != nil {
		return b.Retry()
	}
	return nil
}

// WithStage names the stage of calls that carry no [llm.Request], such as embeddings.
func WithStage(ctx context.Context, stage string) context.Context {
	return context.WithValue(ctx, stageKey, stage)
}

// StageOf returns the stage set by [WithStage], or "".
func StageOf(ctx context.Context) string { return valueOf[string](ctx, stageKey) }

// WithQuestion names the question for which calls without an [llm.Request] are made.
func WithQuestion(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, questionKey, id)
}

// QuestionOf returns the question set by [WithQuestion], or "".
func QuestionOf(ctx context.Context) string { return valueOf[string](ctx, questionKey) }

// maxCount is more tokens than any reply uses: the largest contexts have ten million. Sums of counts up to
// maxCount do not overflow.
const maxCount = 100_000_000

// Count is a number of tokens, which servers write as 12, 12.0 or "12". null and "" are read as 0; anything else,
// and a negative or implausible number, as -1. Reading never fails, since a paid reply must not be lost to a strange
// figure.
type Count int

// UnmarshalJSON implements json.Unmarshaler.
func (c *Count) UnmarshalJSON(b []byte) error {
	text := strings.TrimSpace(strings.Trim(string(b), `"`))
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "null" || text == "":
		*c = 0
	case err != nil || !(f >= 0 && f <= maxCount):
		*c = -1
	default:
		*c = Count(math.Ceil(f))
	}
	return nil
}

// UsageOf returns the usage of a chat by the token counts of its reply. If the prompt's is missing or 0, or one is
// implausible, the usage has no tokens and is marked as estimated.
func UsageOf(prompt, completion Count) llm.Usage {
	if prompt <= 0 || completion < 0 {
		return llm.Usage{Calls: 1, Estimated: true}
	}
	return llm.Usage{Calls: 1, PromptTokens: int(prompt), CompletionTokens: int(completion)}
}

// EmbeddedUsage returns the usage of embedded texts by the token counts of the reply, as [UsageOf] does.
func EmbeddedUsage(prompt, total Count) llm.Usage {
	n := max(prompt, total)
	if n <= 0 {
		return llm.Usage{Estimated: true}
	}
	return llm.Usage{EmbeddedTokens: int(n)}
}
