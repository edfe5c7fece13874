// SPDX-License-Identifier: Apache-2.0

// Package otel hands the spans of package trace to OpenTelemetry. It links OpenTelemetry's API
// alone: which SDK and exporter there are is the program's.
//
//	ctx = trace.With(ctx, otel.New(provider.Tracer("my service")))
package otel

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	api "go.opentelemetry.io/otel/trace"

	"github.com/wildgraph/wildgraph/graphrag/trace"
)

// New returns a tracer that starts its spans in to. Spans of model calls are of the kind client.
func New(to api.Tracer) trace.Tracer { return tracer{to} }

type tracer struct{ to api.Tracer }

func (t tracer) Start(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, trace.Span) {
	options := []api.SpanStartOption{api.WithAttributes(attributes(attrs)...)}
	if trace.IsCall(attrs) {
		options = append(options, api.WithSpanKind(api.SpanKindClient))
	}
	ctx, s := t.to.Start(ctx, name, options...)
	return ctx, span{s}
}

type span struct{ api.Span }

func (s span) Set(attrs ...slog.Attr) { s.SetAttributes(attributes(attrs)...) }

func (s span) End(err error) {
	if err != nil {
		kind := trace.ErrorType(err)
		s.SetAttributes(attribute.String("error.type", kind))
		s.SetStatus(codes.Error, kind)
	}
	s.Span.End()
}

func attributes(attrs []slog.Attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, len(attrs))
	for i, a := range attrs {
		switch a.Value.Kind() {
		case slog.KindInt64:
			out[i] = attribute.Int64(a.Key, a.Value.Int64())
		case slog.KindFloat64:
			out[i] = attribute.Float64(a.Key, a.Value.Float64())
		case slog.KindBool:
			out[i] = attribute.Bool(a.Key, a.Value.Bool())
		default:
			out[i] = attribute.String(a.Key, a.Value.String())
		}
	}
	return out
}
