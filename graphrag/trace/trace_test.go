// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

// spans returns the spans of a trace in OTLP.
func spans(t *testing.T, r *trace.Recorder) []map[string]any {
	t.Helper()
	data := check.Of(json.Marshal(r)).OK(t)
	var out struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []map[string]any }
		}
	}
	check.OK(t, json.Unmarshal(data, &out))
	return out.ResourceSpans[0].ScopeSpans[0].Spans
}

func TestRecorder(t *testing.T) {
	r := new(trace.Recorder)
	ctx, outer := trace.Start(trace.With(t.Context(), r), "answer", slog.Int("n", 1))
	outer.Set(slog.Int("n", 2))
	check.Is(t, check.Err(trace.Do(ctx, "chat", func(ctx context.Context) (int, error) {
		trace.Of(ctx).Set(slog.Float64("wildgraph.cost", .25))
		return 0, fmt.Errorf("the canary: %w", &llm.Error{Kind: llm.ErrFiltered, Body: "canary"})
	}, slog.String("gen_ai.operation.name", "chat"))), llm.ErrFiltered)
	trace.Start(ctx, "goes on")
	outer.End(nil)
	got := spans(t, r)
	check.Must(t, len(got) == 3 && got[0]["spanId"] == got[1]["parentSpanId"] &&
		got[0]["spanId"] == got[2]["parentSpanId"] && got[0]["parentSpanId"] == nil, "%v", got)
	for i, want := range []string{
		`[{"key":"n","value":{"intValue":"2"}}]`,
		`[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"wildgraph.cost","value":{"doubleValue":0.25}},{"key":"error.type","value":{"stringValue":"content filtered"}}]`,
		`null`,
	} {
		attrs, _ := json.Marshal(got[i]["attributes"])
		check.Equal(t, string(attrs), want, "span %d: %s", i, attrs)
		start, end := got[i]["startTimeUnixNano"].(string), got[i]["endTimeUnixNano"].(string)
		check.True(t, len(start) == len(end) && start <= end && start >= got[0]["startTimeUnixNano"].(string), "span %d from %s to %s", i, start, end)
	}
	kind, status := fmt.Sprint(got[0]["kind"], got[1]["kind"]), fmt.Sprint(got[0]["status"], got[1]["status"])
	check.True(t, kind == "1 3" && status == "map[] map[code:2]", "kinds %s, status %s", kind, status)
}

// A trace has a limited number of spans, and can be written concurrently.
func TestRecorderIsBounded(t *testing.T) {
	r := new(trace.Recorder)
	ctx := trace.With(t.Context(), r)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3000 {
				_, s := trace.Start(ctx, "x")
				s.End(nil)
			}
		})
	}
	all.Wait()
	data, err := json.Marshal(r)
	n := len(spans(t, r))
	check.True(t, n == 10_000 && err == nil && strings.Contains(string(data), `"wildgraph.dropped_spans","value":{"intValue":"2000"}`), "%d spans, %v", n, err)
}

func TestErrorType(t *testing.T) {
	for want, err := range map[string]error{
		"canceled": fmt.Errorf("x: %w", context.Canceled), "timeout": context.DeadlineExceeded, "refused": fmt.Errorf("canary: %w", &llm.Error{Kind: llm.ErrRefused}),
		"*json.SyntaxError": fmt.Errorf("canary: %w", new(json.SyntaxError)), "*errors.errorString": errors.New("canary"),
	} {
		check.Equal(t, trace.ErrorType(err), want, "%v", err)
	}
}
