// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// Options of [New]. Zero values are the defaults.
type Options struct {
	// Tokens are those who may ask, by their bearer token. Without any there is no login:
	// then listen on loopback alone.
	Tokens map[string]Token
	// ReadOnly refuses to put and delete documents, whoever asks.
	ReadOnly bool
	// K is the number of passages that are read for an answer; 0 leaves it to the system.
	K int
	// AtOnce is how many questions are answered at a time, 8; others are told to try again.
	AtOnce int
	// PerMinute is how many requests a token, or everybody without tokens, may send in a
	// minute, 600.
	PerMinute int
	// MaxBody is the size of a request in bytes, 16 MiB: documents are put in one.
	MaxBody int64
	// Timeout ends an answer, 5 minutes.
	Timeout time.Duration
	// Cite writes the line of a citation below an answer; nil writes its title, or the
	// document's ID.
	Cite func(a graphrag.Answer, c graphrag.Citation) string
}

// Token is what the bearer of a token may do.
type Token struct {
	// Scope limits what is seen, and what is written; nil is everything.
	Scope *graphrag.Condition `json:"scope,omitempty"`
	// Write allows documents to be put and deleted.
	Write bool `json:"write,omitempty"`
}

const (
	maxK        = 1000
	defaultHits = 5        // of a search
	maxQuestion = 64 << 10 // bytes of one question
	maxToken    = 1 << 12
)

// ReadTokens reads the tokens of a JSON object, such as
//
//	{"TOKEN": {"scope": "team = \"ops\"", "write": true}}
//
// Tokens have 16 to 4096 visible ASCII characters.
func ReadTokens(r io.Reader) (map[string]Token, error) {
	tokens := map[string]Token{}
	in := json.NewDecoder(io.LimitReader(r, 16<<20))
	in.DisallowUnknownFields()
	begun, err := in.Token()
	if err == nil && begun != json.Delim('{') {
		err = errors.New("it is no object")
	}
	for err == nil && in.More() { // one by one: a map would keep the last of two scopes in silence
		var name json.Token
		var may Token
		if name, err = in.Token(); err == nil {
			err = in.Decode(&may)
		}
		key, _ := name.(string)
		if _, twice := tokens[key]; twice {
			return nil, fmt.Errorf("serve: the token number %d stands there twice", len(tokens)+1)
		}
		tokens[key] = may
	}
	if err == nil {
		_, err = in.Token()
	}
	if err == nil && in.More() {
		err = errors.New("there is more behind the object")
	}
	if err != nil {
		return nil, fmt.Errorf("serve: tokens: %w: want {\"TOKEN\": {\"scope\": \"CONDITION\", \"write\": false}}", err)
	}
	if len(tokens) == 0 {
		return nil, errors.New("serve: there is no token: give one, or leave the file out to serve this machine alone")
	}
	for t := range tokens { // without a word of it: it is a secret
		if len(t) < 16 || len(t) > maxToken || strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("serve: a token has %d characters, or others than visible ASCII: want 16 to %d", len(t), maxToken)
		}
	}
	return tokens, nil
}

// server answers the requests.
type server struct {
	system  graphrag.System
	o       Options
	turn    chan struct{}
	writing chan struct{}               // held from the look at what is there to its change
	users   map[[sha256.Size]byte]*user // by the sum of the token: equal time for all tokens
	anyone  *user                       // without tokens
	asked   atomic.Bool                 // it has answered once
}

type user struct {
	Token
	limit *rate.Limiter
}

// New returns the handler of a system that has been indexed or opened. Documents can be
// listed if the system has kit.System's List and Get.
func New(system graphrag.System, o Options) (http.Handler, error) {
	checks := opt.Checks{Of: "serve"}
	opt.Range(&checks, "K", o.K, 0, maxK)
	opt.Min(&checks, "AtOnce", o.AtOnce, 0)
	opt.Min(&checks, "PerMinute", o.PerMinute, 0)
	opt.Min(&checks, "MaxBody", o.MaxBody, 0)
	opt.Min(&checks, "Timeout", o.Timeout, 0)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	o.AtOnce, o.PerMinute = cmp.Or(o.AtOnce, 8), cmp.Or(o.PerMinute, 600)
	o.MaxBody, o.Timeout = cmp.Or(o.MaxBody, 16<<20), cmp.Or(o.Timeout, 5*time.Minute)
	s := &server{system: system, o: o, turn: make(chan struct{}, o.AtOnce), writing: make(chan struct{}, 1), users: make(map[[sha256.Size]byte]*user)}
	limit := func() *rate.Limiter { return rate.NewLimiter(rate.Limit(float64(o.PerMinute)/60), o.PerMinute) }
	for token, may := range o.Tokens {
		may.Write = may.Write && !o.ReadOnly
		s.users[sha256.Sum256([]byte(token))] = &user{may, limit()}
	}
	s.anyone = &user{Token{Write: !o.ReadOnly}, limit()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]string{"status": "ok"}) })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI) // a client that left is no error
	})
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request, *user) error{
		"GET /v1/models": s.models, "POST /v1/chat/completions": s.chat, "POST /v1/answer": s.answer, "POST /v1/search": s.search,
		"GET /v1/documents": s.list, "PUT /v1/documents": s.put, "DELETE /v1/documents/{id...}": s.delete,
	} {
		mux.HandleFunc(pattern, s.guarded(handle))
	}
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, problem{http.StatusNotFound, "unknown_url", fmt.Sprintf("there is no %s %.200s: see /openapi.json", r.Method, r.URL.Path)})
	})
	return mux, nil
}

//go:embed openapi.json
var openAPI []byte

// problem is an error with its status and code.
type problem struct {
	status int
	code   string
	text   string
}

func (p problem) Error() string { return p.text }

func bad(format string, args ...any) error {
	return problem{http.StatusBadRequest, "invalid_request", fmt.Sprintf(format, args...)}
}

// fail answers with an error in OpenAI's form.
func fail(w http.ResponseWriter, err error) {
	var p problem
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		p = problem{http.StatusRequestEntityTooLarge, "request_too_large", fmt.Sprintf("the request has more than %d bytes", large.Limit)}
	case !errors.As(err, &p):
		p = problem{http.StatusInternalServerError, "server_error", err.Error()}
	}
	kind := "invalid_request_error"
	if p.status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": p.text, "type": kind, "param": nil, "code": p.code}})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that left is no error
}

// guarded finds who asks, and holds the limits.
func (s *server) guarded(handle func(http.ResponseWriter, *http.Request, *user) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		u := s.anyone
		if len(s.users) > 0 {
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if u = s.users[sha256.Sum256([]byte(token))]; u == nil {
				w.Header().Set("WWW-Authenticate", "Bearer")
				fail(w, problem{http.StatusUnauthorized, "invalid_api_key", "no such token: send Authorization: Bearer TOKEN"})
				return
			}
		}
		if !u.limit.Allow() {
			w.Header().Set("Retry-After", "1")
			fail(w, problem{http.StatusTooManyRequests, "rate_limit_exceeded", fmt.Sprintf("more than %d requests a minute", s.o.PerMinute)})
			return
		}
		if r.ContentLength > s.o.MaxBody { // before any of it is read
			w.Header().Set("Connection", "close")
			fail(w, &http.MaxBytesError{Limit: s.o.MaxBody})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, s.o.MaxBody)
		ctx, cancel := context.WithTimeout(r.Context(), s.o.Timeout)
		defer cancel()
		if u.Scope != nil {
			ctx = graphrag.WithScope(ctx, *u.Scope)
		}
		if err := handle(w, r.WithContext(ctx), u); err != nil {
			fail(w, err)
		}
	}
}

// begin takes a turn; a request that finds none is told to try again.
func (s *server) begin(w http.ResponseWriter) (end func(), err error) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	default:
		w.Header().Set("Retry-After", "1")
		return nil, problem{http.StatusServiceUnavailable, "overloaded", "other questions are being answered: try again"}
	}
}

// ready tells whether questions can be asked.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	if s.asked.Load() { // whoever asks needs no token: a question could cost a model's call each time
		reply(w, map[string]string{"status": "ok"})
		return
	}
	end, err := s.begin(w)
	if err != nil {
		fail(w, err)
		return
	}
	defer end()
	if _, err := s.system.Retrieve(r.Context(), graphrag.Question{}); err != nil {
		fail(w, problem{http.StatusServiceUnavailable, "not_ready", err.Error()})
		return
	}
	s.asked.Store(true)
	reply(w, map[string]string{"status": "ok"})
}

// read decodes a body of JSON.
func read(r *http.Request, to any) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return problem{http.StatusUnsupportedMediaType, "invalid_content_type", "want application/json"}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, to); err != nil {
		return bad("the body: %v", err)
	}
	return nil
}

// ask is a question as it is sent.
type ask struct {
	Question string              `json:"question"`
	Query    string              `json:"query"`
	K        int                 `json:"k"`
	Form     graphrag.Form       `json:"form"`
	Where    *graphrag.Condition `json:"where"`
}

// question checks what is asked, and takes a turn for it.
func (s *server) question(w http.ResponseWriter, text string, k int, where *graphrag.Condition) (q graphrag.Question, end func(), err error) {
	switch {
	case strings.TrimSpace(text) == "":
		return q, nil, bad("there is no question")
	case len(text) > maxQuestion:
		return q, nil, bad("the question has more than %d bytes", maxQuestion)
	case k < 0 || k > maxK:
		return q, nil, bad("k is %d, want 0 to %d", k, maxK)
	}
	end, err = s.begin(w)
	return graphrag.Question{Text: text, K: cmp.Or(k, s.o.K), Where: where}, end, err
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, _ *user) error {
	var in ask
	if err := read(r, &in); err != nil {
		return err
	}
	q, end, err := s.question(w, in.Question, in.K, in.Where)
	if err != nil {
		return err
	}
	defer end()
	q.Form = in.Form
	a, err := s.system.Answer(r.Context(), q)
	if err != nil {
		return asked(err)
	}
	reply(w, struct {
		graphrag.Answer
		Uncited bool `json:"uncited,omitempty"`
	}{a, a.Uncited()})
	return nil
}

func (s *server) search(w http.ResponseWriter, r *http.Request, _ *user) error {
	var in ask
	if err := read(r, &in); err != nil {
		return err
	}
	q, end, err := s.question(w, cmp.Or(in.Query, in.Question), cmp.Or(in.K, s.o.K, defaultHits), in.Where)
	if err != nil {
		return err
	}
	defer end()
	found, err := s.system.Retrieve(r.Context(), q)
	if err != nil {
		return asked(err)
	}
	hits := found.Ranked
	if hits == nil {
		hits = append([]graphrag.Hit{}, found.Evidence...)
	}
	reply(w, map[string]any{"hits": hits})
	return nil
}
