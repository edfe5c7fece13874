// SPDX-License-Identifier: Apache-2.0

// Package trace reports the work for an index or a question and its duration as nested spans. A [Tracer] in
// the context of a call receives them: a [Recorder] stores them, and graphrag/trace/otel, a module of its
// own, passes them to OpenTelemetry. Without a tracer nothing is recorded.
//
// A span has a name, and numbers and names as attributes; attributes of model calls follow OpenTelemetry for
// generative AI (gen_ai.*), others begin with "wildgraph.". No span contains a word of a document, a question, a
// prompt, a reply or an error, so a trace can be shown to people without access to the documents.
package trace

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// Tracer receives each span when it begins. It is safe for concurrent use.
type Tracer interface {
	// Start begins a span inside the span of ctx. Spans of the returned context are inside the new one.
	Start(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, Span)
}

// Span is a piece of work that has begun.
type Span interface {
	// Set adds attributes; an attribute replaces an earlier one of the same name.
	Set(attrs ...slog.Attr)
	// End ends the span, once. err says why the work failed, or is nil.
	End(err error)
}

type (
	tracerKey struct{}
	spanKey   struct{}
)

// With returns a context whose spans are sent to a tracer.
func With(ctx context.Context, t Tracer) context.Context {
	return context.WithValue(ctx, tracerKey{}, t)
}

// Start begins a span, if the context has a tracer.
func Start(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, Span) {
	t, _ := ctx.Value(tracerKey{}).(Tracer)
	if t == nil {
		return ctx, none{}
	}
	ctx, s := t.Start(ctx, name, attrs...)
	return context.WithValue(ctx, spanKey{}, s), s
}

// Do calls a function in a span.
func Do[T any](ctx context.Context, name string, do func(context.Context) (T, error), attrs ...slog.Attr) (T, error) {
	ctx, span := Start(ctx, name, attrs...)
	got, err := do(ctx)
	span.End(err)
	return got, err
}

// Of returns the span of a context. If there is none, it returns a span that drops its attributes.
func Of(ctx context.Context) Span {
	if s, ok := ctx.Value(spanKey{}).(Span); ok {
		return s
	}
	return none{}
}

type none struct{}

func (none) Set(...slog.Attr) {}
func (none) End(error)        {}

// ErrorType returns the kind of an error, without its text, which may quote a document: "canceled", "timeout",
// the value of an error whose type is a string, or else the type.
func ErrorType(err error) string {
	var kind interface{ ErrorType() string }
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &kind):
		return kind.ErrorType()
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return fmt.Sprintf("%T", err)
}

// maxSpans is the number of spans that a [Recorder] stores: about 4 MB. Later ones are only counted.
const maxSpans = 10_000

// Recorder is a tracer that stores the spans of one trace. The zero value is empty.
type Recorder struct {
	mu      sync.Mutex
	spans   []*recorded
	dropped int
}

// recorded is a span; r.mu guards it. Its id is its position among the spans, from 1.
type recorded struct {
	r          *Recorder
	id, parent int
	name       string
	begun      time.Time
	took       time.Duration // -1 before it ends
	attrs      []slog.Attr
	failed     bool
}

// Start implements [Tracer].
func (r *Recorder) Start(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.spans) == maxSpans {
		r.dropped++
		return ctx, none{}
	}
	s := &recorded{r: r, id: len(r.spans) + 1, name: name, begun: time.Now(), took: -1, attrs: attrs}
	if of, ok := ctx.Value(spanKey{}).(*recorded); ok && of.r == r {
		s.parent = of.id
	}
	r.spans = append(r.spans, s)
	return ctx, s
}

func (s *recorded) Set(attrs ...slog.Attr) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.attrs = append(s.attrs, attrs...)
}

func (s *recorded) End(err error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.took = time.Since(s.begun)
	if s.failed = err != nil; s.failed {
		s.attrs = append(s.attrs, slog.String("error.type", ErrorType(err)))
	}
}

// The types of OTLP in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
type (
	otlpAttr struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
	otlpSpan struct {
		TraceID string         `json:"traceId"`
		SpanID  string         `json:"spanId"`
		Parent  string         `json:"parentSpanId,omitempty"`
		Name    string         `json:"name"`
		Kind    int            `json:"kind"`
		Start   string         `json:"startTimeUnixNano"`
		End     string         `json:"endTimeUnixNano"`
		Attrs   []otlpAttr     `json:"attributes,omitempty"`
		Status  map[string]int `json:"status"`
	}
)

// Values of OTLP: the kinds of spans, and the status of an error.
const (
	otlpInternal, otlpClient = 1, 3
	otlpError                = 2
)

// MarshalJSON returns the trace as OTLP in JSON, which Jaeger and other programs read. An open span gets the
// current time as its end.
func (r *Recorder) MarshalJSON() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var id [16]byte
	_, _ = rand.Read(id[:]) // it never returns an error
	out := make([]otlpSpan, len(r.spans))
	for i, s := range r.spans {
		o := otlpSpan{TraceID: hex.EncodeToString(id[:]), SpanID: spanID(s.id), Name: s.name, Kind: otlpInternal, Attrs: otlpAttrs(s.attrs), Status: map[string]int{}}
		took := s.took
		if took < 0 {
			took = time.Since(s.begun)
		}
		o.Start, o.End = strconv.FormatInt(s.begun.UnixNano(), 10), strconv.FormatInt(s.begun.UnixNano()+int64(took), 10)
		if s.parent > 0 {
			o.Parent = spanID(s.parent)
		}
		if IsCall(s.attrs) {
			o.Kind = otlpClient
		}
		if s.failed {
			o.Status["code"] = otlpError
		}
		out[i] = o
	}
	resource := otlpAttrs([]slog.Attr{slog.String("service.name", "wildgraph"), slog.Int("wildgraph.dropped_spans", r.dropped)})
	return json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{
		"resource":   map[string]any{"attributes": resource},
		"scopeSpans": []any{map[string]any{"scope": map[string]any{"name": "github.com/wildgraph/wildgraph"}, "spans": out}},
	}}})
}

// IsCall reports whether a span with these attributes is a call of a server.
func IsCall(attrs []slog.Attr) bool {
	return len(attrs) > 0 && attrs[0].Key == "gen_ai.operation.name"
}

func spanID(n int) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	return hex.EncodeToString(b[:])
}

func otlpAttrs(attrs []slog.Attr) (out []otlpAttr) {
	at := make(map[string]int)
	for _, a := range attrs {
		v := map[string]any{}
		switch a.Value.Kind() {
		case slog.KindInt64:
			v["intValue"] = strconv.FormatInt(a.Value.Int64(), 10)
		case slog.KindFloat64:
			v["doubleValue"] = a.Value.Float64()
		case slog.KindBool:
			v["boolValue"] = a.Value.Bool()
		default:
			v["stringValue"] = a.Value.String()
		}
		i, ok := at[a.Key]
		if !ok {
			i = len(out)
			at[a.Key] = i
			out = append(out, otlpAttr{})
		}
		out[i] = otlpAttr{a.Key, v}
	}
	return out
}
