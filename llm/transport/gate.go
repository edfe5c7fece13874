// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/wildgraph/wildgraph/llm"
)

// gate admits the requests to one endpoint and model: as many at a time as the endpoint bears, in order of
// arrival, and one probe at a time while it is down.
type gate struct {
	name      string
	log       *slog.Logger
	maxOutage time.Duration

	mu       sync.Mutex
	limit    aimd
	breaker  breaker
	inflight int
	waiting  list.List // of *waiter
	timer    *time.Timer
	served   string
	success  time.Time // the last one
}

type waiter struct {
	ready chan struct{} // closed when the fields below are set
	probe bool
	err   *failure
}

// enter waits for admission. probe must be passed to leave.
func (g *gate) enter(ctx context.Context) (probe bool, e *failure) {
	w := &waiter{ready: make(chan struct{})}
	g.mu.Lock()
	at := g.waiting.PushBack(w)
	g.dispatch()
	g.mu.Unlock()
	select {
	case <-w.ready:
		return w.probe, w.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.ready: // at the same moment: hand it on
		if w.err == nil {
			g.inflight--
			g.breaker.probing = g.breaker.probing && !w.probe
			g.dispatch()
		}
	default:
		g.waiting.Remove(at)
	}
	return false, &failure{Error: llm.Canceled(ctx, llm.BilledNo)}
}

// leave ends an admitted request; e is the error of its attempt, or nil after a success with its work and seconds.
func (g *gate) leave(probe bool, e *llm.Error, work, seconds float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	flying := g.inflight
	g.inflight--
	switch {
	case e == nil:
		g.success = now
		g.limit.success(flying, work, seconds)
	case e.Kind == llm.ErrRateLimited, e.Status == http.StatusServiceUnavailable, g.limit.local && e.Kind == llm.ErrTimeout:
		if g.limit.overload(now, e.RetryAfter) {
			g.log.Warn("transport: slowing down", "endpoint", g.name, "concurrency", g.limit.slots())
		}
	case e.Kind == llm.ErrTransient, e.Kind == llm.ErrTimeout:
		g.limit.streak = 0
	}
	switch changed := g.breaker.note(now, e, probe); {
	case probe && !changed && g.breaker.open():
		g.log.Warn("transport: the endpoint still fails: waiting for it", "endpoint", g.name, "for", now.Sub(g.breaker.opened).Round(time.Second),
			"probe_in", breakerPause, "error", e)
	case changed && g.breaker.open():
		g.log.Warn("transport: the endpoint fails: waiting for it", "endpoint", g.name, "probe_in", breakerPause, "error", e)
	case changed:
		g.log.Info("transport: the endpoint answers again", "endpoint", g.name)
	}
	g.dispatch()
}

// silentSince reports whether the endpoint has answered, but not since t.
func (g *gate) silentSince(t time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.success.IsZero() && g.success.Before(t)
}

// down reports whether calls wait for the endpoint to return.
func (g *gate) down() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breaker.open() && g.breaker.answered && time.Since(g.breaker.opened) < g.maxOutage
}

// dispatch admits waiting requests as far as possible. The caller holds the lock.
func (g *gate) dispatch() {
	now := time.Now()
	b := &g.breaker
	if b.open() && (!b.answered || now.Sub(b.opened) >= g.maxOutage) && now.Before(b.probeAt) {
		g.turnAway(now)
	}
	for g.waiting.Len() > 0 && !b.probing {
		probe := b.open()
		if probe && now.Before(b.probeAt) {
			g.wake(min(b.probeAt.Sub(now), b.opened.Add(g.maxOutage).Sub(now)))
			return
		}
		if !probe && g.inflight >= g.limit.slots() {
			return
		}
		w := g.waiting.Remove(g.waiting.Front()).(*waiter)
		w.probe, b.probing = probe, probe
		g.inflight++
		close(w.ready)
	}
}

// turnAway fails all waiting requests: the endpoint never answered, or the outage was too long.
func (g *gate) turnAway(now time.Time) {
	for g.waiting.Len() > 0 {
		w := g.waiting.Remove(g.waiting.Front()).(*waiter)
		e := *g.breaker.last
		e.Billed, e.Usage = llm.BilledNo, llm.Usage{}
		e.Err = fmt.Errorf("not sent, the endpoint has been failing for %s; last: %w", now.Sub(g.breaker.opened).Round(time.Second), g.breaker.last)
		e.Body = ""
		w.err = &failure{Error: &e, final: true}
		close(w.ready)
	}
}

// wake calls dispatch later.
func (g *gate) wake(after time.Duration) {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.timer = time.AfterFunc(max(after, 0), func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.dispatch()
	})
}

// answeredBy records the server's name of the model and warns when it changes: an alias that moves during a
// run mixes two models.
func (g *gate) answeredBy(name string) {
	if name == "" {
		return
	}
	g.mu.Lock()
	before := g.served
	g.served = name
	g.mu.Unlock()
	if before != "" && before != name {
		g.log.Warn("transport: the server answers with another model than before", "endpoint", g.name, "before", before, "now", name)
	}
}
