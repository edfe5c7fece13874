// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/serve"
	"github.com/wildgraph/wildgraph/internal/check"
)

const (
	hr     = "token-of-hr-0123456789"
	ops    = "token-of-ops-0123456789"
	reader = "token-that-reads-0123456789"
)

// flat is BM25 over the documents of two teams and one document of no team.
func flat(t testing.TB) *kit.System {
	t.Helper()
	k := check.Of(kit.Offline(kit.OfflineOptions{Mode: "reject"})).OK(t)
	s, err := kit.New(kit.Frame{Name: "flat", Kit: k, Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		return retrieve.NewSparse(ctx, c.Chunks, bm25.Options{})
	}})
	if err == nil {
		_, err = s.Index(t.Context(), graphrag.Documents(
			graphrag.Document{ID: "pay", Title: "Pay", Text: "Ada Lovelace earns 90,000 crowns a year.", Fields: graphrag.Fields{"team": "hr"}},
			graphrag.Document{ID: "mill", Text: "Ada Lovelace wrote programs for the mill in 1843.", Fields: graphrag.Fields{"team": "ops"}},
			graphrag.Document{ID: "tides", Text: "The moon raises the tides of the sea."}))
	}
	check.OK(t, err)
	return s
}

func tokens(t testing.TB) map[string]serve.Token {
	t.Helper()
	got, err := serve.ReadTokens(strings.NewReader(`{"` + hr + `": {"scope": "team = \"hr\"", "write": true}, "` + ops + `": {"scope": "team = \"ops\"", "write": true}, "` + reader + `": {}}`))
	check.OK(t, err)
	return got
}

func start(t testing.TB, s graphrag.System, o serve.Options) *httptest.Server {
	t.Helper()
	h := check.Of(serve.New(s, o)).OK(t)
	httpServer := httptest.NewServer(h)
	t.Cleanup(httpServer.Close)
	return httpServer
}

// send returns the status and the body of the reply to a request.
func send(t testing.TB, httpServer *httptest.Server, token, method, path, body string) (int, string) {
	t.Helper()
	r := check.Of(http.NewRequestWithContext(t.Context(), method, httpServer.URL+path, strings.NewReader(body))).OK(t)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	got := check.Of(http.DefaultClient.Do(r)).OK(t)
	defer got.Body.Close()
	data := check.Of(io.ReadAll(got.Body)).OK(t)
	return got.StatusCode, string(data)
}

func TestRequests(t *testing.T) {
	httpServer := start(t, flat(t), serve.Options{Tokens: tokens(t), MaxBody: 1 << 20})
	question := func(q string) string {
		return `{"model": "flat", "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "` + q + `"}, {"role": "assistant", "content": "?"}]}`
	}
	secrets := map[string]string{"reader": reader, "hr": hr, "ops": ops}
	for _, row := range append(check.Rows(t, "testdata/requests.txt"), // columns: name, token, method, path, body, status, part of the reply
		[]string{"chat", "reader", "POST", "/v1/chat/completions", question("How much does Ada Lovelace earn?"), "200", `\n\n[1] Pay (pay)`},
		[]string{"citations", "reader", "POST", "/v1/chat/completions", question("How much does Ada Lovelace earn?"), "200", `"document":"pay","title":"Pay","quote":"Ada Lovelace earns 90,000 crowns a year.","fields":{"team":"hr"}`},
		[]string{"scope", "ops", "POST", "/v1/chat/completions", question("How much does Ada Lovelace earn?"), "200", "The evidence does not contain the answer."},
		[]string{"long question", "hr", "POST", "/v1/search", `{"query": "` + strings.Repeat("x", 70_000) + `"}`, "400", "more than 65536 bytes"},
		[]string{"large body", "hr", "POST", "/v1/search", strings.Repeat("x", 2<<20), "413", `"code":"request_too_large"`},
	) {
		token := cmp.Or(secrets[row[1]], row[1])
		status, body := send(t, httpServer, token, row[2], row[3], row[4])
		check.True(t, strconv.Itoa(status) == row[5] && strings.Contains(body, row[6]), "%s: %d %.300s, want %s %s", row[0], status, body, row[5], row[6])
	}
}

// slow is a system that writes an answer in two steps, and can fail after the first.
type slow struct {
	graphrag.System
	next    chan error
	entered chan struct{}
}

// errThought makes a slow system report that the beginning of its answer was no part of it.
var errThought = errors.New("reasoning")

func newSlow(t testing.TB) slow { return slow{flat(t), make(chan error), make(chan struct{}, 9)} }

func (s slow) Stream(ctx context.Context, _ graphrag.Question) iter.Seq2[graphrag.Answer, error] {
	return func(yield func(graphrag.Answer, error) bool) {
		s.entered <- struct{}{}
		if !yield(graphrag.Answer{Text: "The moon"}, nil) {
			return
		}
		select {
		case err := <-s.next:
			if err == errThought {
				yield(graphrag.Answer{Text: "Gravity raises it.", Citations: []graphrag.Citation{{End: 18}}, Found: graphrag.Found{Evidence: []graphrag.Hit{{}}}}, nil)
				return
			}
			yield(graphrag.Answer{Text: "The moon raises it.", Found: graphrag.Found{Usage: graphrag.Usage{PromptTokens: 7, CompletionTokens: 2}}}, err)
		case <-ctx.Done():
			yield(graphrag.Answer{}, ctx.Err())
		}
	}
}

func (s slow) Answer(ctx context.Context, q graphrag.Question) (a graphrag.Answer, err error) {
	for a, err = range s.Stream(ctx, q) {
	}
	return a, err
}

// Events are sent while the answer is written; an error in the middle is an event.
func TestStream(t *testing.T) {
	s := newSlow(t)
	httpServer := start(t, s, serve.Options{})
	open := func() (*bufio.Scanner, func()) {
		body := `{"model": "flat", "stream": true, "stream_options": {"include_usage": true}, "messages": [{"role": "user", "content": "What?"}]}`
		r, err := http.Post(httpServer.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		check.Must(t, err == nil && r.Header.Get("Content-Type") == "text/event-stream", "%v %v", err, r.Header)
		return bufio.NewScanner(r.Body), func() { r.Body.Close() }
	}
	line := func(in *bufio.Scanner) string {
		for in.Scan() {
			if in.Text() != "" {
				return in.Text()
			}
		}
		return "the end"
	}
	in, end := open()
	defer end()
	if first := line(in); !strings.Contains(first, `"content":"The moon"`) { // before the rest is written
		t.Fatal(first)
	}
	s.next <- nil
	for _, want := range []string{`"content":" raises it."`, `"finish_reason":"stop"`, `"usage":{"completion_tokens":2,"prompt_tokens":7,"total_tokens":9}`, "data: [DONE]", "the end"} {
		check.Contains(t, line(in), want)
	}
	in, end2 := open()
	defer end2()
	line(in)
	s.next <- errors.New("the model left")
	if got := line(in); !strings.Contains(got, `{"error":{"code":"server_error","message":"the system failed`) || line(in) != "the end" {
		t.Errorf("an error in the middle: %s", got)
	}
	in, end3 := open()
	defer end3()
	line(in)
	s.next <- errThought
	if got := line(in); !strings.Contains(got, `"content":"\n\nGravity raises it.`) || !strings.Contains(got, `"start":10,"end":28`) {
		t.Errorf("an answer behind reasoning: %s", got)
	}
}

// One question runs at a time; a caller that leaves makes room for the next; an answer that takes too long is
// ended; the limit per minute is kept.
func TestLimits(t *testing.T) {
	s := newSlow(t)
	httpServer := start(t, s, serve.Options{AtOnce: 1})
	ctx, leave := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, "POST", httpServer.URL+"/v1/answer", strings.NewReader(`{"question": "What?"}`))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
			_, err = http.DefaultClient.Do(r)
		}
		asked <- err
	}()
	<-s.entered
	search := func() (int, string) { return send(t, httpServer, "", "POST", "/v1/search", `{"query": "tides"}`) }
	status, body := search()
	check.True(t, status == 503 && strings.Contains(body, "try again"), "%d %s", status, body)
	leave()
	<-asked
	for status, body := search(); status != 200; status, body = search() { // until the server notices that the client has left
		check.Must(t, status == 503, "%d %s", status, body)
		time.Sleep(time.Millisecond)
	}
	httpServer = start(t, s, serve.Options{Timeout: time.Millisecond})
	status, body = send(t, httpServer, "", "POST", "/v1/answer", `{"question": "What?"}`)
	check.True(t, status == 504 && strings.Contains(body, `"code":"timeout"`), "%d %s", status, body)
	httpServer = start(t, s, serve.Options{PerMinute: 2})
	for want := range []int{0, 1, 2} {
		if status, body := send(t, httpServer, "", "GET", "/v1/models", ""); (status == 429) != (want == 2) || want == 2 && !strings.Contains(body, "rate_limit_exceeded") {
			t.Errorf("request %d: %d %s", want, status, body)
		}
	}
}

func TestBadTokensAndOptions(t *testing.T) {
	secret := "s3cret-s3cret"
	for text, want := range map[string]string{
		``: "EOF", `{}`: "there is no token", `{"` + secret + `": {}}`: "a token has 13 characters", `{"a b c d e f g h i j": {}}`: "visible ASCII",
		`{"token-of-hr-0123456789": {"scope": "team ="}}`: "is not a value", `{"token-of-hr-0123456789": {"scop": "x"}}`: "the key \"scop\" is unknown", `{"token-of-hr-0123456789": {"Scope": "all"}}`: "the key \"Scope\" is unknown",
		`{"token-of-hr-0123456789": {"scope": null}}`: "is null", `{"token-of-hr-0123456789": null}`: "the value is not a JSON object", `{"token-of-hr-0123456789": {"scope": "all", "scope": "all"}}`: "occurs twice", `{"token-of-hr-0123456789": {}}]`: "there is more text after",
		`{"": {}}`: "a token has 0 characters", `{"token-of-hr-0123456789": {}, "token-of-hr-0123456789": {"write": true}}`: "token number 2 occurs twice", `[]`: "the value is not a JSON object",
		`{"token-of-hr-0123456789": {}} {}`: "there is more text after", `{"token-of-hr-0123456789": {}`: "EOF",
	} {
		_, err := serve.ReadTokens(strings.NewReader(text))
		check.True(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), secret), "%s: %v, want %s", text, err, want)
	}
	for _, token := range []string{"", "short", "a token with blanks in it"} {
		check.Fails(t, check.Err(serve.New(flat(t), serve.Options{Tokens: map[string]serve.Token{token: {Write: true}}})), "a token has", "%q", token)
	}
	_, err := serve.New(flat(t), serve.Options{K: -1, Timeout: -1})
	check.True(t, err != nil && strings.Contains(err.Error(), "K") && strings.Contains(err.Error(), "Timeout"), "error %v", err)
}

// failing is a system whose model is not available, and whose hits are long.
type failing struct{ graphrag.System }

func (failing) Answer(context.Context, graphrag.Question) (graphrag.Answer, error) {
	return graphrag.Answer{}, errors.New("http://10.1.2.3/v1: no such deployment")
}

func (failing) Retrieve(_ context.Context, q graphrag.Question) (found graphrag.Found, _ error) {
	for range q.K {
		found.Ranked = append(found.Ranked, graphrag.Hit{Chunk: graphrag.Chunk{Title: strings.Repeat("x", 1<<20)}})
	}
	return found, nil
}

// Internal addresses are only in the log, replies are limited in size, and a token is recognized by its scheme.
func TestInnerErrorsAndLongHits(t *testing.T) {
	var told error
	httpServer := start(t, failing{flat(t)}, serve.Options{Tokens: tokens(t), Failed: func(err error) { told = err }})
	if status, body := send(t, httpServer, reader, "POST", "/v1/answer", `{"question": "Q?"}`); status != 500 || strings.Contains(body, "10.1.2.3") || told == nil || !strings.Contains(told.Error(), "10.1.2.3") {
		t.Errorf("%d %s, logged %v", status, body, told)
	}
	status, body := send(t, httpServer, reader, "POST", "/v1/search", `{"query": "Q?", "k": 100}`)
	check.True(t, status == 200 && len(body) <= 9<<20 && strings.Contains(body, `"truncated":true`), "%d, %d bytes", status, len(body))
	for header, want := range map[string]int{"Bearer " + reader: 200, "bearer  " + reader: 200, reader: 401, "Basic " + reader: 401, "": 401, "Bearer": 401} {
		r := httptest.NewRequest("GET", "/v1/models", nil)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		httpServer.Config.Handler.ServeHTTP(w, r)
		check.Equal(t, w.Code, want, "%q", header)
	}
}

// The OpenAPI description has every path that is served.
func TestOpenAPI(t *testing.T) {
	httpServer := start(t, flat(t), serve.Options{})
	_, body := send(t, httpServer, "", "GET", "/openapi.json", "")
	var api struct {
		Paths map[string]map[string]any
	}
	err := json.Unmarshal([]byte(body), &api)
	check.Must(t, err == nil && len(api.Paths) >= 8, "%v %v", err, body)
	for path, methods := range api.Paths {
		for method := range methods {
			status, body := send(t, httpServer, "", strings.ToUpper(method), strings.Replace(path, "{id}", "none", 1), "{}")
			check.True(t, status != 404 || !strings.Contains(body, "unknown_url"),
				"%s %s is not served", method, path)
		}
	}
}

func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Mode: "reject"})
	if err != nil {
		fmt.Println(err)
		return
	}
	system, err := kit.New(kit.Frame{Name: "flat", Kit: k, Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		return retrieve.NewSparse(ctx, c.Chunks, bm25.Options{})
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := system.Index(context.Background(), graphrag.Documents(graphrag.Document{ID: "tides", Text: "The moon raises the tides of the sea."})); err != nil {
		fmt.Println(err)
		return
	}
	handler, err := serve.New(system, serve.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "http://localhost/v1/chat/completions", strings.NewReader(`{"model": "flat", "messages": [{"role": "user", "content": "What raises the tides?"}]}`))
	r.Header.Set("Content-Type", "application/json")
	handler.ServeHTTP(w, r)
	var reply struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Choices[0].Message.Content)
	// Output:
	// The moon raises the tides of the sea.
	//
	// [1] tides
}

// Two teams ask one index: the token decides which documents are visible, and no question can change that.
func ExampleToken() {
	parts, err1 := kit.Offline(kit.OfflineOptions{Mode: "reject"})
	system, err2 := kit.New(kit.Frame{Name: "words", Kit: parts, Words: &bm25.Options{}})
	_, err3 := system.Index(context.Background(), graphrag.Documents(
		graphrag.Document{ID: "pay", Text: "Ada Lovelace earns 90,000 crowns a year.", Fields: graphrag.Fields{"team": "hr"}},
		graphrag.Document{ID: "mill", Text: "Ada Lovelace wrote programs for the mill.", Fields: graphrag.Fields{"team": "ops"}}))
	hr, ops := graphrag.Equal("team", "hr"), graphrag.Equal("team", "ops")
	handler, err4 := serve.New(system, serve.Options{Tokens: map[string]serve.Token{"key-of-hr-4Zr1xq": {Scope: &hr}, "key-of-ops-9Lm3ed": {Scope: &ops}}})
	fmt.Println(errors.Join(err1, err2, err3, err4))
	for _, key := range []string{"key-of-hr-4Zr1xq", "key-of-ops-9Lm3ed", "guessed"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "http://localhost/v1/answer", strings.NewReader(`{"question": "How much does Ada Lovelace earn?", "where": "all"}`))
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		handler.ServeHTTP(w, r)
		var reply struct {
			Text  string
			Error struct{ Message string }
		}
		err := json.Unmarshal(w.Body.Bytes(), &reply)
		fmt.Println(key, reply.Text+reply.Error.Message, err)
	}
	// Output:
	// <nil>
	// key-of-hr-4Zr1xq Ada Lovelace earns 90,000 crowns a year. <nil>
	// key-of-ops-9Lm3ed The evidence does not contain the answer. <nil>
	// guessed no such token: send Authorization: Bearer TOKEN <nil>
}

func TestInContext(t *testing.T) {
	data := check.Of(os.ReadFile("testdata/context.json")).OK(t)
	var cases [][4]string
	check.OK(t, json.Unmarshal(data, &cases))
	for _, c := range cases {
		var before, answers []string
		if c[1] != "" {
			before, answers = []string{"What is a lamp?", c[1]}, []string{"", c[2]}
		}
		check.Equal(t, serve.InContext(c[0], before, answers), c[3], "%q after %q", c[0], c[1])
	}
}

// A name in an answer is also added to later questions that refer to it.
func TestInContextChain(t *testing.T) {
	before := []string{"Who designed the bridge?", "When was he born?"}
	if got := serve.InContext("And where did he die?", before, []string{"It was designed by Edmund Carrick.", "He was born in 1829."}); got != "And where did he die? (Edmund Carrick)" {
		t.Error(got)
	}
	if got := serve.InContext("And where did he die?", before, nil); got != "And where did he die? (born designed bridge)" {
		t.Error(got)
	}
}
