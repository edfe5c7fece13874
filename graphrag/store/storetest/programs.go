// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"net/http"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
)

// Program runs what an environment variable names, which does something to an engine; the
// test is skipped if it names nothing.
func Program(t *testing.T, variable string) func(t *testing.T) {
	program := os.Getenv(variable)
	if program == "" {
		t.Skip(variable + " names no program")
	}
	return func(t *testing.T) {
		if out, err := exec.Command("sh", program).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", variable, err, out)
		}
	}
}

// Requests counts what an HTTP client sends.
type Requests struct{ n atomic.Int64 }

// RoundTrip implements [http.RoundTripper].
func (r *Requests) RoundTrip(q *http.Request) (*http.Response, error) {
	r.n.Add(1)
	return http.DefaultTransport.RoundTrip(q)
}

// Count is how many there were.
func (r *Requests) Count() int64 { return r.n.Load() }
