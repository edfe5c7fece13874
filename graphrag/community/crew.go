// SPDX-License-Identifier: Apache-2.0

package community

import (
	"runtime"
	"sync/atomic"
	"time"
)

// crew is some goroutines that work on one list of tasks after the other, and do not sleep in
// between: to wake up a processor takes as long as many a block of nodes.
type crew struct {
	workers int
	list    atomic.Pointer[tasks]
}

// tasks are numbered from 0.
type tasks struct {
	n    int64
	do   func(worker, task int)
	next atomic.Int64
	done atomic.Int64
}

// newCrew returns a crew, the caller one of it.
func newCrew(workers int) *crew {
	c := &crew{workers: workers}
	if workers == 1 {
		return c
	}
	c.list.Store(&tasks{})
	for w := 1; w < workers; w++ {
		go func() {
			for list := c.list.Load(); list != nil; {
				list.work(w)
				before := list
				wait(func() bool { list = c.list.Load(); return list != before })
			}
		}()
	}
	return c
}

// each does n tasks, in ascending order if the crew is one.
func (c *crew) each(n int, do func(worker, task int)) {
	if c.workers == 1 || n == 1 {
		for task := range n {
			do(0, task)
		}
		return
	}
	list := &tasks{n: int64(n), do: do}
	c.list.Store(list)
	list.work(0)
	wait(func() bool { return list.done.Load() == list.n })
}

// dismiss ends the crew.
func (c *crew) dismiss() { c.list.Store(nil) }

func (t *tasks) work(worker int) {
	for task := t.next.Add(1) - 1; task < t.n; task = t.next.Add(1) - 1 {
		t.do(worker, int(task))
		t.done.Add(1)
	}
}

// wait spins until so reports true, and yields to the scheduler when that takes long.
func wait(so func() bool) {
	for looks := 0; !so(); looks++ {
		if looks < 1<<12 {
			runtime.Gosched()
		} else {
			time.Sleep(50 * time.Microsecond)
		}
	}
}
