// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/llm"
)

// Whatever a server says, an error has a kind, a body that can be shown, and
// a wait in range.
func FuzzErrorBody(f *testing.F) {
	for _, s := range []string{`{"error":{"code":"insufficient_quota"}}`, `{"error":"x"}`, `{"error":{"code":429,"message":"y"}}`, `{"message":"z"}`, "<html>", "\xff", `{"error":{"code":1e999}}`} {
		f.Add(429, s, "7", "Wed, 21 Oct 2015 07:28:00 GMT", "1500")
		f.Add(200, s, "Wed, 21 Oct 2015 07:28:00 GMT", "", "")
	}
	f.Fuzz(func(t *testing.T, status int, body, retry, date, ms string) {
		h := http.Header{"Retry-After": {retry}, "Date": {date}, "Retry-After-Ms": {ms}}
		e := classifyStatus(status, h, []byte(body))
		if e.Kind == "" || e.RetryAfter < 0 || e.RetryAfter > 1e6*time.Second {
			t.Fatalf("%+v", e)
		}
		e.Body = llm.Excerpt([]byte(body))
		if !utf8.ValidString(e.Body) || len(e.Body) > 503 || !utf8.ValidString(e.Error()) {
			t.Fatalf("%q", e.Error())
		}
		if in := ErrorInBody([]byte(body)); in != nil && (in.Kind == "" || !errors.Is(in, in.Kind)) {
			t.Fatalf("%+v", in)
		}
		if u := usageIn([]byte(body)); u.Calls < 0 {
			t.Fatalf("%+v", u)
		}
		newExchange(&Transport{gates: map[string]*gate{}, o: Options{Concurrency: 1}}, &http.Request{URL: mustURL(t)}, &Call{}, []byte(body))
	})
}

func mustURL(t *testing.T) *url.URL {
	u, err := url.Parse("http://h.example/v1")
	if err != nil {
		t.Fatal(err)
	}
	return u
}
