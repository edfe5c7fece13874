// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
)

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"Incorrect API key provided: sk-proj-abc***xyz.": "Incorrect API key provided: ***.",
		"Authorization: Bearer abc.def, sorry":           "Authorization: ***, sorry",
		"the planted-one is gone":                        "the *** is gone",
		"a risk-free task":                               "a risk-free task",
		"-":                                              "-",
	} {
		check.Equal(t, Excerpt([]byte(in), "planted-one", "-"), want, "%q became", in)
	}
	if got := Excerpt([]byte(strings.Repeat("猫", 1000)), "x"); len(got) > bodyExcerpt+3 || strings.Contains(got, "\ufffd") {
		t.Errorf("excerpt of %d bytes: %q", len(got), got[len(got)-10:])
	}
}

func TestErrorContract(t *testing.T) {
	e := &Error{Kind: ErrRateLimited, Endpoint: "http://h/v1", Status: 429, RetryAfter: 7 * time.Second, Body: "slow\x1b[31m", Err: errors.New("cause")}
	got, want := e.Error(), `llm: rate limited: http://h/v1: HTTP 429, retry after 7s: "slow\x1b[31m": cause`
	check.Equal(t, got, want)
	wrapped := fmt.Errorf("outer: %w", e)
	check.True(t, errors.Is(wrapped, ErrRateLimited) && !errors.Is(wrapped, ErrTimeout), "errors.Is does not ask for the kind")
	retryable := map[Kind]bool{ErrRateLimited: true, ErrTransient: true, ErrTimeout: true, ErrEmpty: true}
	for _, k := range []Kind{ErrRateLimited, ErrQuotaExhausted, ErrTransient, ErrTimeout, ErrBadRequest, ErrContextLength, ErrAuth,
		ErrFiltered, ErrRefused, ErrTruncated, ErrEmpty, ErrInvalidOutput, ErrBudgetExceeded, ErrCanceled} {
		got := (&Error{Kind: k}).Retryable()
		check.True(t, got == retryable[k], "%v: retryable %v", k, got)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("because"))
	err := Canceled(ctx, BilledNo)
	check.True(t, errors.Is(err, context.Canceled) && errors.Is(err, ErrCanceled), "%v", err)
}
