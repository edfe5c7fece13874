// SPDX-License-Identifier: Apache-2.0

package texttest

import (
	"context"
	"sync/atomic"
)

// Countdown is a context that is cancelled at its n-th look: it tells, without a
// clock, whether a long piece of work looks often enough.
type Countdown struct {
	context.Context
	left atomic.Int64
}

// NewCountdown returns a context of n looks that find nothing.
func NewCountdown(n int) *Countdown {
	c := &Countdown{Context: context.Background()}
	c.left.Store(int64(n))
	return c
}

// Err is nil n times.
func (c *Countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Looks is how often was looked after the n times, 0 if the work ended before.
func (c *Countdown) Looks() int { return int(max(0, -c.left.Load())) }
