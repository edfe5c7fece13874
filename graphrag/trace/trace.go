// SPDX-License-Identifier: Apache-2.0

// Package trace reports the work for an index or a question and its duration as nested
// spans. A [Tracer] in the context of a call receives them: a [Recorder] stores them, and
// graphrag/trace/otel, a module of its own, passes them to OpenTelemetry. Without a tracer
// nothing is recorded.
//
// A span has a name, and numbers and names as attributes; attributes of model calls follow
// OpenTelemetry for generative AI (gen_ai.*), others begin with "wildgraph.". No span contains
// a word of a document, a question, a prompt, a reply or an error, so a trace can be shown to
// people without access to the documents.
package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// Tracer receives each span when it begins. It is safe for concurrent use.
type Tracer interface {
	// Start begins a span within the span of ctx. Spans of the returned context are within
	// it.
	Start(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, Span)
}

// Span is a piece of work that has begun.
type Span interface {
	// Set adds attributes; a later one of the same name counts.
	Set(attrs ...slog.Attr)
	// End ends it, once; an error says why it failed, or is nil.
	End(err error)
}

type (
	tracerKey struct{}
	spanKey   struct{}
)

// With returns a context whose spans a tracer receives.
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

// Do does something as a span.
func Do[T any](ctx context.Context, name string, do func(context.Context) (T, error), attrs ...slog.Attr) (T, error) {
	ctx, span := Start(ctx, name, attrs...)
	got, err := do(ctx)
	span.End(err)
	return got, err
}

// Of returns the span of a context. Without one it returns a span that drops its
// attributes.
func Of(ctx context.Context) Span {
	if s, ok := ctx.Value(spanKey{}).(Span); ok {
		return s
	}
	return none{}
}

type none struct{}

func (none) Set(...slog.Attr) {}
func (none) End(error)        {}

// ErrorType is the kind of an error, without its text, which may quote what the trace must not
// show: "canceled", "timeout", what an error that is a text by its type says, or the type.
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
