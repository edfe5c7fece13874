// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestSecretNeverPrints(t *testing.T) {
	const key = "sk-canary-1234567890"
	type config struct {
		Key  Secret
		Keys []Secret
		Map  map[string]Secret
		Ptr  *Secret
	}
	s := Secret(key)
	c := config{s, []Secret{s}, map[string]Secret{"k": s}, &s}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb+" "+verb+" "+verb+"\n", s, c, &c)
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(b)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "key", s, "config", c)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "key", s, "config", c)
	text := out.String()
	if strings.Contains(text, "canary") || strings.Contains(text, fmt.Sprintf("%x", "canary")) || !strings.Contains(text, hidden) {
		t.Error(text)
	}
	if s.Reveal() != key {
		t.Error("Reveal does not")
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"Incorrect API key provided: sk-proj-abc***xyz.": "Incorrect API key provided: ***.",
		"Authorization: Bearer abc.def, sorry":           "Authorization: ***, sorry",
		"the planted-one is gone":                        "the *** is gone",
		"a risk-free task":                               "a risk-free task",
		"-":                                              "-",
	} {
		if got := redact(in, "planted-one", "-"); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := excerpt([]byte(strings.Repeat("猫", 1000)), "x"); len(got) > bodyExcerpt+3 || strings.Contains(got, "\ufffd") {
		t.Errorf("excerpt of %d bytes: %q", len(got), got[len(got)-10:])
	}
}

func TestErrorContract(t *testing.T) {
	e := &Error{Kind: ErrRateLimited, Endpoint: "http://h/v1", Status: 429, RetryAfter: 7 * time.Second, Body: "slow\x1b[31m", Err: errors.New("cause")}
	if got, want := e.Error(), `llm: rate limited: http://h/v1: HTTP 429, retry after 7s: "slow\x1b[31m": cause`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	wrapped := fmt.Errorf("outer: %w", e)
	if !errors.Is(wrapped, ErrRateLimited) || errors.Is(wrapped, ErrTimeout) {
		t.Error("errors.Is does not ask for the kind")
	}
	retryable := map[Kind]bool{ErrRateLimited: true, ErrTransient: true, ErrTimeout: true, ErrEmpty: true}
	for _, k := range []Kind{ErrRateLimited, ErrQuotaExhausted, ErrTransient, ErrTimeout, ErrBadRequest, ErrContextLength, ErrAuth,
		ErrFiltered, ErrRefused, ErrTruncated, ErrEmpty, ErrInvalidOutput, ErrBudgetExceeded, ErrCanceled} {
		if got := (&Error{Kind: k}).Retryable(); got != retryable[k] {
			t.Errorf("%v: retryable %v", k, got)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("because"))
	if err := Canceled(ctx, BilledNo); !errors.Is(err, context.Canceled) || !errors.Is(err, ErrCanceled) {
		t.Error(err)
	}
}

func TestClassify(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		want   Kind
	}{
		{429, `{"error":{"code":"rate_limit_exceeded"}}`, ErrRateLimited},
		{429, `{"error":{"type":"insufficient_quota","code":null}}`, ErrQuotaExhausted},
		{429, `not JSON`, ErrRateLimited},
		{402, ``, ErrQuotaExhausted},
		{401, ``, ErrAuth}, {403, ``, ErrAuth}, {404, ``, ErrBadRequest},
		{408, ``, ErrTimeout}, {504, ``, ErrTimeout}, {409, ``, ErrTransient}, {425, ``, ErrTransient},
		{500, `{"error":"14000 tokens, maximum context length"}`, ErrTransient},
		{502, ``, ErrTransient}, {503, ``, ErrTransient}, {529, ``, ErrRateLimited}, {501, ``, ErrBadRequest},
		{400, `{"error":{"message":"…resulted in 14290 tokens; maximum context length is 8192"}}`, ErrContextLength},
		{400, `{"error":"input length exceeds the context length"}`, ErrContextLength},
		{400, `{"message":"the request exceeds the available context size"}`, ErrContextLength},
		{400, `{"error":{"code":"content_filter"}}`, ErrFiltered},
		{400, `{"error":{"message":"429 is no temperature"}}`, ErrBadRequest},
		{302, `moved`, ErrBadRequest},
	} {
		if e := classifyStatus(tc.status, http.Header{}, []byte(tc.body)); e.Kind != tc.want {
			t.Errorf("%d %s: %v, want %v", tc.status, tc.body, e.Kind, tc.want)
		}
	}
}

func TestErrorInBody(t *testing.T) {
	for body, want := range map[string]Kind{
		`{"error":{"message":"x","code":429}}`: ErrRateLimited,
		`{"error":"model crashed"}`:            ErrTransient,
		`{"error":"exceeds context length"}`:   ErrContextLength,
		`{"error":null}`:                       "", `{"a":1}`: "", `[]`: "", ``: "",
	} {
		e := ErrorInBody([]byte(body))
		if got := (Kind)(""); e != nil {
			got = e.Kind
			if got != want {
				t.Errorf("%s: %v, want %v", body, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: nothing, want %v", body, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, tc := range []struct {
		header map[string]string
		want   time.Duration
	}{
		{map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{map[string]string{"Retry-After": " 0.5 "}, 500 * time.Millisecond},
		{map[string]string{"Retry-After": date(9 * time.Second)}, 9 * time.Second},
		{map[string]string{"Retry-After": date(-time.Hour)}, 0},
		// The server's clock is an hour ahead of ours: only its own counts.
		{map[string]string{"Retry-After": date(time.Hour + 9*time.Second), "Date": date(time.Hour)}, 9 * time.Second},
		{map[string]string{"Retry-After-Ms": "250", "Retry-After": "7"}, 250 * time.Millisecond},
		{map[string]string{"Retry-After": "-3"}, 0},
		{map[string]string{"Retry-After": "soon"}, 0},
		{map[string]string{"Retry-After": "1e300"}, 1e6 * time.Second},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{}, 0},
	} {
		h := http.Header{}
		for k, v := range tc.header {
			h.Set(k, v)
		}
		if got := retryAfter(h, now); got != tc.want {
			t.Errorf("%v: %v, want %v", tc.header, got, tc.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"7", "Wed, 21 Oct 2015 07:28:00 GMT", "-1", "NaN", "1e999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := retryAfter(http.Header{"Retry-After": {s}}, time.Unix(0, 0))
		if d < 0 || d > 1e6*time.Second {
			t.Fatalf("%q: %v", s, d)
		}
	})
}
