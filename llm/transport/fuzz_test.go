// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/replies"
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
		check.Must(t, e.Kind != "" && e.RetryAfter >= 0 && e.RetryAfter <= 1e6*time.Second, "%+v", e)
		e.Body = replies.Excerpt([]byte(body))
		check.Must(t, utf8.ValidString(e.Body) && len(e.Body) <= 503 && utf8.ValidString(e.Error()), "%q", e.Error())
		if in := errorInBody([]byte(body)); in != nil && (in.Kind == "" || !errors.Is(in, in.Kind)) {
			t.Fatalf("%+v", in)
		}
		u := usageIn([]byte(body))
		check.Must(t, u.Calls >= 0, "%+v", u)
		newExchange(&Transport{gates: map[string]*gate{}, o: Options{Concurrency: 1}}, &http.Request{URL: mustURL(t)}, []byte(body), nil)
	})
}

func mustURL(t *testing.T) *url.URL {
	u := check.Of(url.Parse("http://h.example/v1")).OK(t)
	return u
}

// A reply that is read has text and counts that add up; anything else is an
// error.
func FuzzReadReply(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`{"choices":[{"message":{"content":[{"text":"a"},{"text":"b"}]},"finish_reason":"length"}]}`,
		`{"choices":[{"message":{"content":null,"refusal":"no"}}]}`, `{"choices":[]}`, `{"error":{"code":429}}`, `{"choices":`,
		"{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"message\":{\"content\":\"b\"},\"done\":true,\"prompt_eval_count\":1,\"eval_count\":2}",
		`{"message":{"content":"<think>a"},"done":true}`, `{"done":true}`, "\xff", "", "null",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, read := range map[string]func([]byte) (llm.Reply, error){"openai": readOpenAI, "ollama": readOllama} {
			reply, err := read(body)
			var e *llm.Error
			switch {
			case err == nil && (strings.TrimSpace(reply.Text) == "" || reply.Finish != llm.FinishStop):
				t.Fatalf("%s: %+v is taken for an answer", name, reply)
			case err != nil && errors.As(err, &e) && e.Kind == "":
				t.Fatalf("%s: an error without a kind: %v", name, err)
			case reply.Usage.PromptTokens < 0 || reply.Usage.CompletionTokens < 0:
				t.Fatalf("%s: usage %+v", name, reply.Usage)
			}
		}
	})
}

func FuzzReadVectors(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[3,4]}],"usage":{"prompt_tokens":3}}`,
		`{"data":[{"index":-1,"embedding":[1]}]}`, `{"data":[{"embedding":[1e999]}]}`, `{"embeddings":[[1,2],[3,4]],"prompt_eval_count":3}`,
		`{"embeddings":[[],[]]}`, `{"data":null}`, ``, `{"data":[{"embedding":[null]},{"embedding":[0]}],"usage":{"prompt_tokens":"1e30"}}`,
	} {
		f.Add([]byte(s), 2)
	}
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		n &= 7
		texts := slices.Repeat([]string{"x"}, n)
		for name, read := range map[string]func([]byte, int) ([][]float32, llm.Usage, error){"openai": readOpenAIVectors, "ollama": readOllamaVectors} {
			vectors, u, err := read(body, n)
			check.Must(t, u.EmbeddedTokens >= 0 && u.EmbeddedTokens <= 1e8, "%s: %+v", name, u)
			if err != nil || CheckVectors(texts, vectors) != nil {
				continue
			}
			check.Must(t, len(vectors) == n, "%s: %d vectors for %d texts", name, len(vectors), n)
			for _, v := range vectors {
				if len(v) == 0 || len(v) != len(vectors[0]) || slices.Max(v) <= 0 && slices.Min(v) >= 0 {
					t.Fatalf("%s: dimensions %d and %d, %v", name, len(v), len(vectors[0]), v)
				}
			}
		}
	})
}

// An address that is accepted holds no credentials and leads over plain http
// to this machine at most; one that is refused does not show its password.
func FuzzConfigURL(f *testing.F) {
	for _, s := range []string{
		"http://127.0.0.1:8000/v1", "https://host/v1/", "http://10.0.0.1", "http://me:p4ssw0rd@localhost/", "http://[::1]:9/base",
		"https://host?key=p4ssw0rd", "ftp://x", "http://localhost.:1", "//x", "http://[::ffff:127.0.0.1]/", "http://127.1/", "0.0.0.0", ":5000", "p://:8000@", "[::]:9", "http://\x00", "%zz",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, text := range []string{raw, ollamaURL(raw)} {
			u, err := parseURL(text, false)
			if err != nil {
				if parsed, perr := url.Parse(text); perr == nil && parsed.User != nil {
					// With another password the error is the same.
					if p, ok := parsed.User.Password(); ok && p != "" {
						masked := strings.Replace(text, ":"+p+"@", ":another-password@", 1)
						if _, other := parseURL(masked, false); masked != text && (other == nil || other.Error() != err.Error()) {
							t.Fatalf("%q: the error shows the password: %v, and %v", text, err, other)
						}
					}
				}
				continue
			}
			if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Hostname() == "" || u.Scheme == "http" && !loopback(u.Hostname()) {
				t.Fatalf("%q was accepted as %v", text, u)
			}
			again, err := parseURL(u.String(), false)
			check.Must(t, err == nil && again.String() == u.String(), "%q became %q, which became %v: %v", text, u, again, err)
		}
	})
}
