// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A record answers the request it was written for, or it is an error; it
// never answers another one.
func FuzzCacheRecord(f *testing.F) {
	request, err := canonical("m", Prompt("q"))
	if err != nil {
		f.Fatal(err)
	}
	good, err := json.Marshal(cacheRecord{Request: request, Reply: &Reply{Text: "a", Finish: FinishStop}})
	if err != nil {
		f.Fatal(err)
	}
	bad, err := json.Marshal(cacheRecord{Request: request, Failure: &failure{Kind: ErrFiltered}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{good, bad, good[:len(good)-1], []byte(`{"request":`), []byte(`{"reply":{}}`), []byte(`{"request":{},"reply":{"text":"x"}}`), nil} {
		f.Add(seed, request)
	}
	f.Fuzz(func(t *testing.T, payload, request []byte) {
		stored := string(payload)
		o, err := decodeOutcome(payload, request)
		if err == nil && !strings.Contains(stored, string(request)) {
			var r cacheRecord
			if json.Unmarshal([]byte(stored), &r) != nil || r.Request != nil {
				t.Fatalf("%q answers %q with %+v", stored, request, o)
			}
		}
		if k, v, err := decodeVector([]byte(stored)); err == nil && string(encodeVector(k, v)) != stored {
			for _, x := range v {
				if x != x { // a NaN may change its bits
					return
				}
			}
			t.Fatalf("the vector %x does not come back", stored)
		}
	})
}

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
		e.Body = excerpt([]byte(body))
		if !utf8.ValidString(e.Body) || len(e.Body) > bodyExcerpt+3 || !utf8.ValidString(e.Error()) {
			t.Fatalf("%q", e.Error())
		}
		if in := ErrorInBody([]byte(body)); in != nil && (in.Kind == "" || !errors.Is(in, in.Kind)) {
			t.Fatalf("%+v", in)
		}
		if u := usageIn([]byte(body)); u.Calls < 0 {
			t.Fatalf("%+v", u)
		}
		newExchange(&Transport{gates: map[string]*gate{}, o: TransportOptions{Concurrency: 1}}, &http.Request{URL: mustURL(t)}, &Call{}, []byte(body))
	})
}

func mustURL(t *testing.T) *url.URL {
	u, err := url.Parse("http://h.example/v1")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func FuzzPrices(f *testing.F) {
	f.Add(`{"currency":"EUR","models":[{"model":"m","as_of":"2025-01-02","prompt":0.15,"completion":0.6}]}`, 12345)
	f.Add(`{"currency":"X","models":[{"model":"m","as_of":"2025-01-02","prompt":1e6}]}`, math.MaxInt)
	f.Add(`{}`, 0)
	f.Fuzz(func(t *testing.T, text string, n int) {
		p, err := ReadPrices(strings.NewReader(text))
		if err != nil {
			return
		}
		n &= math.MaxInt >> 1
		for _, m := range p.Models {
			if c := p.Cost(m.Model, Usage{PromptTokens: n, CompletionTokens: n, EmbeddedTokens: n}); c.Amount < 0 || c.Partial {
				t.Fatalf("%d tokens of %+v cost %v", n, m, c)
			}
		}
	})
}
