// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"cmp"
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
	waiting  list.List // the *waiter of each waiting request, in order of arrival
	timer    *time.Timer
	served   string
	success  time.Time // time of the last success
}

type waiter struct {
	ready chan struct{} // closed when probe and err are set
	probe bool
	err   *failure
}

// enter waits until the request may be sent. The caller passes probe on to leave.
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
	case <-w.ready: // the request was admitted as ctx ended: admit another one
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

// leave ends an admitted request. e is its error, or nil after a success with its work, its seconds and the
// server's name of the model. leave warns if that name changes: a run would mix two models.
func (g *gate) leave(probe bool, e *llm.Error, work, seconds float64, served string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	flying := g.inflight
	g.inflight--
	switch {
	case e == nil:
		g.success = now
		g.limit.success(flying, work, seconds)
		if before := g.served; served != "" && before != "" && before != served {
			g.log.Warn("transport: the server answers with another model than before", "endpoint", g.name, "before", before, "now", served)
		}
		g.served = cmp.Or(served, g.served)
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

// fails reports whether the endpoint is down but may return, and whether it answered before t but not since.
func (g *gate) fails(t time.Time) (down, silent bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	down = g.breaker.open() && g.breaker.answered && time.Since(g.breaker.opened) < g.maxOutage
	return down, !g.success.IsZero() && g.success.Before(t)
}

// dispatch admits as many waiting requests as the limits allow. The caller holds g.mu.
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
		e.Err = fmt.Errorf("not sent: the endpoint has been failing for %s, the last error was: %w", now.Sub(g.breaker.opened).Round(time.Second), g.breaker.last)
		e.Body = ""
		w.err = &failure{Error: &e, final: true}
		close(w.ready)
	}
}

// wake calls dispatch after a time.
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

// The types below decide by their arguments alone, time included; [gate] applies them.

const (
	// startConcurrency is the first adaptive limit; a server on this machine has few slots and gets startLocal.
	startConcurrency = 8
	startLocal       = 2
	// An overloaded endpoint's limit is multiplied by cutFactor. The next cut is at least cutCooldown later,
	// since running requests still reflect the old limit.
	cutFactor   = 0.7
	cutCooldown = 5 * time.Second
	// One more slot on a local server is kept if the throughput rises by at least half of what a slot can add;
	// otherwise it is tried again after holdRounds rounds.
	keepGain   = 0.5
	holdRounds = 8
	leastRound = 8 // least number of replies in a round
)

// aimd is the number of concurrent requests that an endpoint bears: additive increase, multiplicative decrease.
// A server on this machine queues requests rather than refuse them, so an increase that does not raise the
// throughput is undone.
type aimd struct {
	limit  float64
	most   int
	local  bool
	streak int       // successes since the last change of the limit or failure
	until  time.Time // the limit is not cut before this time

	// For a local server: the work and the seconds of the round's replies, the throughput before the last
	// increase (0 without one), and the rounds until the next increase.
	work, seconds, before float64
	resting               int
}

func newAIMD(most int, local bool) aimd {
	start := startConcurrency
	if local {
		start = startLocal
	}
	return aimd{limit: float64(min(start, most)), most: most, local: local}
}

func (a *aimd) slots() int { return int(a.limit) }

// success records a reply with its work and seconds; flying is the number of requests that were running. After
// as many successes in a row as there are slots it adds a slot, or ends the round of a local server.
func (a *aimd) success(flying int, work, seconds float64) {
	if a.local && flying < a.slots() {
		return // the limit was not used up, so the reply says nothing about it
	}
	if a.streak++; a.streak > 0 {
		a.work, a.seconds = a.work+work*float64(flying), a.seconds+seconds
	}
	switch {
	case a.local && a.streak >= max(leastRound, a.slots()):
		a.round(a.work / a.seconds)
	case !a.local && a.streak >= a.slots():
		a.limit, a.streak = min(a.limit+1, float64(a.most)), 0
	}
}

// round ends a round of a local server's replies, and changes the limit by the throughput.
func (a *aimd) round(throughput float64) {
	a.streak, a.work, a.seconds = 0, 0, 0
	n := float64(a.slots())
	switch {
	case a.before > 0 && n > startLocal && throughput < a.before*(1+keepGain/(n-1)):
		a.limit, a.before, a.resting = n-1, 0, holdRounds
	case a.resting > 0:
		a.resting--
	case int(n) < a.most:
		a.limit, a.before = n+1, throughput
		a.streak = -int(n) - 1 // the next n replies were requested under the old limit
	}
}

// overload lowers the limit, at most once within cutCooldown or Retry-After, and reports whether it did.
func (a *aimd) overload(now time.Time, retryAfter time.Duration) bool {
	a.streak, a.work, a.seconds, a.before = 0, 0, 0, 0
	if now.Before(a.until) {
		return false
	}
	a.limit = max(1, a.limit*cutFactor)
	a.until = now.Add(max(cutCooldown, retryAfter))
	return true
}

const (
	// The breaker opens if the share breakerShare of at least breakerCalls attempts within breakerWindow failed
	// with a transient error or a timeout, and then admits one probe every breakerPause.
	breakerCalls  = 20
	breakerShare  = 0.8
	breakerWindow = 30 * time.Second
	breakerPause  = 30 * time.Second
)

// breaker holds back requests to an endpoint that is down.
type breaker struct {
	began       time.Time // start of the window
	all, failed int       // numbers of attempts and of failed attempts in the window

	opened  time.Time
	probeAt time.Time // time of the next probe while the breaker is open
	probing bool      // a probe is under way
	// answered is true once the endpoint has sent any HTTP reply. Before that the address is probably wrong,
	// and waiting does not help.
	answered bool
	last     *llm.Error
}

// count adds an attempt to the window, or to a new window if the old one is over.
func (b *breaker) count(now time.Time, failed int) {
	if now.Sub(b.began) >= breakerWindow {
		b.began, b.all, b.failed = now, 0, 0
	}
	b.all++
	b.failed += failed
}

func (b *breaker) open() bool { return !b.opened.IsZero() }

// note records the result of an attempt and reports whether the breaker opened or closed.
func (b *breaker) note(now time.Time, e *llm.Error, probe bool) (changed bool) {
	if probe {
		b.probing = false
	}
	if e == nil || e.Status != 0 {
		b.answered = true
	}
	switch {
	case e != nil && e.Kind == llm.ErrCanceled: // a cancelled call says nothing about the endpoint
	case e == nil || e.Kind != llm.ErrTransient && e.Kind != llm.ErrTimeout:
		if b.open() { // any answer means that the server is up
			*b = breaker{answered: true}
			return true
		}
		b.count(now, 0)
	case b.open():
		b.last = e
		if probe {
			b.probeAt = now.Add(breakerPause)
		}
	default:
		b.last = e
		b.count(now, 1)
		if b.all >= breakerCalls && float64(b.failed) >= breakerShare*float64(b.all) {
			b.opened, b.probeAt = now, now.Add(breakerPause)
			return true
		}
	}
	return false
}
