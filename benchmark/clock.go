// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
)

// clock is a tracer that measures the time during which spans of a name are open; overlapping spans count
// once. A call of a model has the name of its stage, as in the usage.
type clock struct {
	start   time.Time
	mu      sync.Mutex
	open    map[string]int
	seconds map[string]float64
}

// clockSpan is an open span of a clock.
type clockSpan struct {
	c    *clock
	name string
}

// Start implements [trace.Tracer].
func (c *clock) Start(ctx context.Context, name string, attrs ...slog.Attr) (context.Context, trace.Span) {
	for _, a := range attrs {
		switch a.Key {
		case "wildgraph.stage":
			name = a.Value.String()
		case "wildgraph.texts":
			name = llm.StageEmbed
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[name]++; c.open[name] == 1 {
		c.seconds[name] -= time.Since(c.start).Seconds()
	}
	return ctx, clockSpan{c, name}
}

// Set implements [trace.Span].
func (clockSpan) Set(...slog.Attr) {}

// End implements [trace.Span].
func (t clockSpan) End(error) {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	if t.c.open[t.name]--; t.c.open[t.name] == 0 {
		t.c.seconds[t.name] += time.Since(t.c.start).Seconds()
	}
}
