// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"math/rand/v2"
	"time"
)

// jitter draws from (0, d], so that clients that failed together do not come
// back together. Waits are the one thing that need not be reproducible.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return 1 + rand.N(d)
}
