// SPDX-License-Identifier: Apache-2.0

// Package trace tells what is done for an index or a question, and how long it takes: spans,
// each within the one that it is a part of. Whoever wants to know puts a [Tracer] into the
// context of the call: a [Recorder] keeps them, and
// graphrag/trace/otel, a module of its own, hands them to OpenTelemetry. Without a tracer
// nothing is kept.
//
// A span has a name, and numbers and names as attributes; those of model calls are
// OpenTelemetry's for generative AI (gen_ai.*), others begin with "wildgraph.". No span has a
// word of a document, a question, a prompt, a reply or an error: a trace can be shown to those
// who may not read what it is about.
package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// Tracer is told of each span when it begins. It is safe for concurrent use.
type Tracer interface {
	// Start begins a span within that of ctx. Spans of the returned context are within it.
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

// With returns a context whose work a tracer is told of.
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

// Of is the span of a context; what is set on that of a context without one is dropped.
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
