// SPDX-License-Identifier: Apache-2.0

package transport

import "time"

// windowSlots is how finely a [window] forgets: a fifteenth of its span at a
// time.
const windowSlots = 15

// window counts events and the marked ones among them over the last span of
// time. It is not safe for concurrent use.
type window struct {
	span  time.Duration
	slots [windowSlots]slot
}

type slot struct {
	at          int64 // number of the slot since the epoch
	all, marked int
}

func (w *window) number(now time.Time) int64 {
	return now.UnixNano() / max(1, int64(w.span)/windowSlots)
}

func (w *window) add(now time.Time, all, marked int) {
	n := w.number(now)
	s := &w.slots[n%windowSlots]
	if s.at != n {
		*s = slot{at: n}
	}
	s.all += all
	s.marked += marked
}

func (w *window) sums(now time.Time) (all, marked int) {
	n := w.number(now)
	for _, s := range w.slots {
		if s.at > n-windowSlots && s.at <= n {
			all, marked = all+s.all, marked+s.marked
		}
	}
	return all, marked
}
