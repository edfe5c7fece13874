// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
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
	b := check.Of(json.Marshal(c)).OK(t)
	out.Write(b)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "key", s, "config", c)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "key", s, "config", c)
	text := out.String()
	check.True(t, !strings.Contains(text, "canary") && !strings.Contains(text, fmt.Sprintf("%x", "canary")) && strings.Contains(text, hidden), "%v", text)
	check.Equal(t, s.Reveal(), key, "Reveal does not")
}

func TestClassify(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		want   llm.Kind
	}{
		{429, `{"error":{"code":"rate_limit_exceeded"}}`, llm.ErrRateLimited},
		{429, `{"error":{"type":"insufficient_quota","code":null}}`, llm.ErrQuotaExhausted},
		{429, `not JSON`, llm.ErrRateLimited},
		{402, ``, llm.ErrQuotaExhausted},
		{401, ``, llm.ErrAuth}, {403, ``, llm.ErrAuth}, {404, ``, llm.ErrBadRequest},
		{408, ``, llm.ErrTimeout}, {504, ``, llm.ErrTimeout}, {409, ``, llm.ErrTransient}, {425, ``, llm.ErrTransient},
		{500, `{"error":"14000 tokens, maximum context length"}`, llm.ErrTransient},
		{502, ``, llm.ErrTransient}, {503, ``, llm.ErrTransient}, {529, ``, llm.ErrRateLimited}, {501, ``, llm.ErrBadRequest},
		{400, `{"error":{"message":"…resulted in 14290 tokens; maximum context length is 8192"}}`, llm.ErrContextLength},
		{400, `{"error":"input length exceeds the context length"}`, llm.ErrContextLength},
		{400, `{"message":"the request exceeds the available context size"}`, llm.ErrContextLength},
		{400, `{"error":{"code":"content_filter"}}`, llm.ErrFiltered},
		{400, `{"error":{"message":"429 is no temperature"}}`, llm.ErrBadRequest},
		{302, `moved`, llm.ErrBadRequest},
	} {
		check.Equal(t, classifyStatus(tc.status, http.Header{}, []byte(tc.body)).Kind, tc.want, "%d %s", tc.status, tc.body)
	}
}

// People read the server's sentence, not its JSON.
func TestErrorSentence(t *testing.T) {
	for body, want := range map[string]string{
		`{"error": {"message": "No model \"x\" is here.", "code": 404}}`: `No model "x" is here.`,
		`{"error": "model crashed"}`:                                     "model crashed",
		`{"message": "too long"}`:                                        "too long",
		`{"detail": "x"}`:                                                `{"detail": "x"}`,
		"<html>":                                                         "<html>",
	} {
		check.Equal(t, string(sentence([]byte(body))), want, "%s", body)
	}
	check.Equal(t, errorInBody([]byte(`{"error":{"message":"upstream failed","code":502}}`)).Body, "upstream failed", "the body shown")
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
		check.Equal(t, parseRetryAfter(h, now), tc.want, "%v", tc.header)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"7", "Wed, 21 Oct 2015 07:28:00 GMT", "-1", "NaN", "1e999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := parseRetryAfter(http.Header{"Retry-After": {s}}, time.Unix(0, 0))
		check.Must(t, d >= 0 && d <= 1e6*time.Second, "%q: %v", s, d)
	})
}
