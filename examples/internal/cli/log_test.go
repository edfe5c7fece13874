// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
)

// Waits are told at once, then at a rate that can be read, and in one line each.
func TestLogger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log := cli.NewLogger(&out)
		for range 25 {
			log.Warn("transport: trying again", "wait", 1234567*time.Microsecond, "error", errors.New("no\n\x1b[2Jway"))
			log.Info("transport: nobody need know")
			time.Sleep(time.Second)
		}
		log.Warn("transport: no reply yet", "probe_in", time.Minute, "stack", strings.Repeat("x", 1000))
		want := "transport: trying again, wait: 1.2s, error: no [2Jway\n" +
			strings.Repeat("transport: trying again, wait: 1.2s, error: no [2Jway (and 9 times before)\n", 2) +
			"transport: no reply yet, probe in: 1m0s, stack: " + strings.Repeat("x", 500) + "…\n"
		if out.String() != want {
			t.Errorf("%s, want\n%s", &out, want)
		}
	})
}
