// SPDX-License-Identifier: Apache-2.0

package weaviate

import (
	"testing"
	"time"
)

// SetRestart changes what a restart takes at least, for a test.
func SetRestart(t *testing.T, d time.Duration) {
	was := restart
	restart = d
	t.Cleanup(func() { restart = was })
}
