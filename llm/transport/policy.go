// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"time"

	"github.com/wildgraph/wildgraph/llm"
)

// The policies below decide by what they are told and the time they are
// given; they wait for nothing. See [gate] for what acts on them.

const (
	// startConcurrency is where the adaptive limit begins; a server on this machine
	// has a few slots, in front of which requests would wait.
	startConcurrency = 8
	startLocal       = 2
	// A cut leaves seven tenths; the next one comes cutCooldown later at the
	// earliest, since requests already under way tell of the old limit.
	cutFactor   = 0.7
	cutCooldown = 5 * time.Second
	// A slot more on a local server is kept if the replies of a round come faster by
	// half of what they could; else it is tried again after so many rounds.
	keepGain   = 0.5
	holdRounds = 8
	leastRound = 8 // replies
)

// aimd is the number of requests an endpoint bears at a time: additive
// increase, multiplicative decrease. A server on this machine refuses nothing: there
// requests wait inside of it, and more of them are of no use. So the increase is undone
// when it does not raise the throughput.
type aimd struct {
	limit  float64
	most   int
	local  bool
	streak int       // successes since the last change or setback
	until  time.Time // no cut before

	// Of a local server: work and seconds of the replies of the round, the throughput
	// before the last increase (0 without one), and the rounds until the next.
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

// success takes in a reply: when it came, so many requests were under way, and it took
// so many seconds for some work. There is one slot more for every streak of successes, as
// many as there are slots.
func (a *aimd) success(flying int, work, seconds float64) {
	if a.local && flying < a.slots() {
		return // the limit holds nobody back
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

// round ends a round of replies of a local server with that throughput.
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
		a.streak = -int(n) - 1 // the next replies are of the old limit
	}
}

// overload cuts the limit, once per cooldown or for as long as the server
// wants to be left alone. It reports whether it did.
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
	// The breaker opens when four fifths of at least 20 attempts in half a
	// minute failed in a way that may pass, and lets one probe through every
	// half minute.
	breakerCalls  = 20
	breakerShare  = 0.8
	breakerWindow = 30 * time.Second
	breakerPause  = 30 * time.Second
)

// breaker keeps requests from an endpoint that is down.
type breaker struct {
	began       time.Time // of the window
	all, failed int       // attempts in it

	opened  time.Time
	probeAt time.Time // the next probe may go, while open
	probing bool      // a probe is under way
	// answered is true once the endpoint has sent an HTTP reply of any kind.
	// Where nobody ever answered there is no outage to wait for, but an
	// address to be corrected.
	answered bool
	last     *llm.Error
}

// count takes an attempt into the window, or into a new one when that is over.
func (b *breaker) count(now time.Time, failed int) {
	if now.Sub(b.began) >= breakerWindow {
		b.began, b.all, b.failed = now, 0, 0
	}
	b.all++
	b.failed += failed
}

func (b *breaker) open() bool { return !b.opened.IsZero() }

// note takes in how an attempt ended. It reports whether the state changed.
func (b *breaker) note(now time.Time, e *llm.Error, probe bool) (changed bool) {
	if probe {
		b.probing = false
	}
	if e == nil || e.Status != 0 {
		b.answered = true
	}
	switch {
	case e != nil && e.Kind == llm.ErrCanceled: // says nothing about the endpoint
	case e == nil || e.Kind != llm.ErrTransient && e.Kind != llm.ErrTimeout:
		if b.open() { // a server that answers is up
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
