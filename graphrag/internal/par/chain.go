// SPDX-License-Identifier: Apache-2.0

package par

import "sync"

// Chain adds up sizes in the order of their numbers, whichever goroutine has them: so
// ranges find their places behind each other in one array. The zero value is empty.
type Chain struct {
	mu   sync.Mutex
	more sync.Cond
	next int
	sum  int64
}

// Add returns the sum of the sizes of lower numbers, and waits for these. Each number from
// 0 on must come once, and all below it must be on their way, as with [Ranges].
func (c *Chain) Add(number int, size int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.more.L = &c.mu
	for c.next != number {
		c.more.Wait()
	}
	before := c.sum
	c.next, c.sum = number+1, before+size
	c.more.Broadcast()
	return before
}

// Sum returns the sum of all sizes.
func (c *Chain) Sum() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum
}
