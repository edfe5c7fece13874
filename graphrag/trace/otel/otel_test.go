// SPDX-License-Identifier: Apache-2.0

package otel_test

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"

	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/graphrag/trace/otel"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Spans are passed to an SDK with their parents, kinds, attributes and error types, below a span of the
// program; the text of an error is not passed.
func TestSpans(t *testing.T) {
	kept := tracetest.NewSpanRecorder()
	tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(kept)).Tracer("test")
	ctx, own := tracer.Start(t.Context(), "the program's")
	ctx = trace.With(ctx, otel.New(tracer))
	ctx, outer := trace.Start(ctx, "answer", slog.String("wildgraph.system", "youtu"))
	_, call := trace.Start(ctx, "chat", slog.String("gen_ai.operation.name", "chat"))
	trace.Of(ctx).Set(slog.Int("n", 7), slog.Bool("yes", true), slog.Float64("half", .5))
	call.End(fmt.Errorf("the canary: %w", context.Canceled))
	outer.End(nil)
	own.End()
	got := kept.Ended()
	check.Must(t, len(got) == 3, "%d spans", len(got))
	chat, answer := got[0], got[1]
	check.True(t, chat.Parent().SpanID() == answer.SpanContext().SpanID() &&
		answer.Parent().SpanID() == own.SpanContext().SpanID(), "a span has another parent")
	check.True(t, chat.SpanKind() == api.SpanKindClient && answer.SpanKind() == api.SpanKindInternal, "kinds %v and %v", chat.SpanKind(), answer.SpanKind())
	if s := chat.Status(); s.Code != codes.Error || s.Description != "canceled" || len(chat.Events()) > 0 || answer.Status().Code != codes.Unset {
		t.Errorf("status %+v, %+v", s, answer.Status())
	}
	want := attribute.NewSet(attribute.String("wildgraph.system", "youtu"), attribute.Int("n", 7), attribute.Bool("yes", true), attribute.Float64("half", .5))
	if set := attribute.NewSet(answer.Attributes()...); !set.Equals(&want) {
		t.Errorf("attributes %v", answer.Attributes())
	}
}

// The bridge links the API and no SDK; a program that imports package trace links neither.
func TestLinks(t *testing.T) {
	for pkg, may := range map[string]string{".": "go.opentelemetry.io/otel", "github.com/wildgraph/wildgraph/graphrag/trace": "none"} {
		out := check.Of(exec.CommandContext(t.Context(), "go", "list", "-deps", pkg).Output()).OK(t)
		for dep := range strings.Lines(string(out)) {
			check.True(t, !strings.HasPrefix(dep, "go.opentelemetry.io/") || strings.HasPrefix(dep, may) &&
				!strings.Contains(dep, "/sdk"), "%s links %s", pkg, dep)
		}
	}
}
