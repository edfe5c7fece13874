// SPDX-License-Identifier: Apache-2.0

package desk

import (
	"context"
	"sync"
)

// idle computes lazy vectors of the index between questions.
type idle struct {
	mu    sync.Mutex
	asked int                // running questions
	ended bool               // no more work is started
	stop  context.CancelFunc // of the last work; nil before the first
	done  chan struct{}      // closed at its end
}

// busy stops the work until the returned function is called.
func (d *Desk) busy() (over func()) {
	d.idle.mu.Lock()
	defer d.idle.mu.Unlock()
	d.idle.asked++
	if d.idle.stop != nil {
		d.idle.stop()
	}
	return d.over
}

// over starts the work if no question is running.
func (d *Desk) over() {
	i := &d.idle
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.asked--; i.asked > 0 || i.ended || !d.o.Encode {
		return
	}
	before, done := i.done, make(chan struct{})
	var ctx context.Context
	ctx, i.stop = context.WithCancel(context.Background())
	i.done = done
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		if err := d.folder.System.Encode(ctx); err != nil && ctx.Err() == nil && d.o.Log != nil {
			d.o.Log.Warn("passages are encoded at the first question that needs them", "error", err)
		}
	}()
}

// endIdle stops the work for good, and waits for its end.
func (d *Desk) endIdle() {
	over := d.busy()
	d.idle.mu.Lock()
	d.idle.ended = true
	done := d.idle.done
	d.idle.mu.Unlock()
	over()
	if done != nil {
		<-done
	}
}
