// SPDX-License-Identifier: Apache-2.0

package session

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/serve"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/display"
)

//go:embed page.html page.css page.js markdown.js
var pageFiles embed.FS

// Bounds of requests and of time.
const (
	maxBody     = 64 << 10
	maxTalk     = 4 << 20 // of a chat program, which sends the whole conversation
	maxQuestion = 8 << 10
	maxBefore   = 50
	atOnce      = 4
	maxFacts    = 30
	patience    = 5 * time.Minute
)

// Serve serves until ctx ends: the page with its API to this machine, or with tokens only the API, to
// clients with a token. ready gets the address.
func Serve(ctx context.Context, d *Session, address string, tokens map[string]serve.Token, ready func(url string)) error {
	l, err := serve.Listen(address, tokens)
	if err != nil {
		return err
	}
	at := l.Addr().String()
	handler, err := Handler(d, at, tokens)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	ready("http://" + at + "/")
	return serve.Serve(ctx, l, handler)
}

// Handler returns the API for clients with tokens. Without tokens it has the page and the page's API, too.
func Handler(d *Session, address string, tokens map[string]serve.Token) (http.Handler, error) {
	api, err := serve.New(d.System(), serve.Options{Tokens: tokens, ReadOnly: true, K: d.K(), AtOnce: atOnce, MaxBody: maxTalk, Timeout: patience, Cite: d.At})
	if err != nil || tokens != nil {
		return api, err
	}
	s := &site{d: d, turn: make(chan struct{}, atOnce)}
	mux := http.NewServeMux()
	for _, name := range []string{"page.html", "page.css", "page.js", "markdown.js"} {
		mux.HandleFunc("GET /"+strings.Replace(name, "page.html", "{$}", 1), func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, pageFiles, name) })
	}
	mux.HandleFunc("GET /api/about", s.about)
	mux.HandleFunc("GET /api/suggestions", s.suggestions)
	mux.HandleFunc("GET /api/source", s.source)
	mux.HandleFunc("GET /api/pdf", s.pdf)
	mux.HandleFunc("GET /api/graph", s.facts)
	mux.HandleFunc("POST /graph", s.graph)
	mux.HandleFunc("POST /api/ask", s.ask)
	for _, path := range []string{"/v1/", "/healthz", "/readyz", "/openapi.json"} {
		mux.Handle(path, api)
	}
	return guard(http.NewCrossOriginProtection().Handler(mux)), nil
}

// guard refuses requests for another host name, and requests of other sites.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !serve.FromHere(r) {
			http.Error(w, "this page is for this machine alone", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// site answers requests. turn bounds the number of concurrent answers.
type site struct {
	d    *Session
	turn chan struct{}
}

// graph serves a page with its own policy.
func (s *site) graph(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	q, _, err := query(r.PostFormValue)
	if err == nil && strings.TrimSpace(q.Question) == "" {
		err = errors.New("want a form with a question, q")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	end, ok := s.begin(w)
	if !ok {
		return
	}
	defer end()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	var page bytes.Buffer
	if err := s.d.WriteGraph(ctx, &page, q); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteTo(w) // fails if the browser disconnected
}

// query reads a question and its condition from a form. On error, status is the status of the response.
func query(value func(key string) string) (q Query, status int, err error) {
	q.Question = value("q")
	if len(q.Question) > maxQuestion {
		return q, http.StatusRequestEntityTooLarge, fmt.Errorf("the question has more than %d bytes", maxQuestion)
	}
	if where := value("where"); where != "" {
		q.Where = new(graphrag.Condition)
		err = q.Where.UnmarshalText([]byte(where))
	}
	return q, http.StatusBadRequest, err
}

// begin takes a turn, or responds that there is none.
func (s *site) begin(w http.ResponseWriter) (end func(), ok bool) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, true
	default:
		http.Error(w, "other questions are being answered: try again", http.StatusServiceUnavailable)
		return nil, false
	}
}

// ask streams replies, a line of JSON each. The last one is complete or has an error.
func (s *site) ask(w http.ResponseWriter, r *http.Request) {
	if form, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); form != "application/json" {
		http.Error(w, "want application/json", http.StatusUnsupportedMediaType)
		return
	}
	var q Query
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil || strings.TrimSpace(q.Question) == "" || len(q.Question) > maxQuestion || max(len(q.Before), len(q.Answers)) > maxBefore {
		if err == nil {
			err = fmt.Errorf("want {\"question\": \"…\", \"before\": [\"…\"], \"where\": \"…\"}, a question of at most %d bytes and at most %d before it", maxQuestion, maxBefore)
		}
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	end, ok := s.begin(w) // after the body: a slow client takes no turn
	if !ok {
		return
	}
	defer end()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, flush := display.JSON(w), http.NewResponseController(w)
	send := func(reply Reply) bool { return out.Encode(reply) == nil && flush.Flush() == nil }
	_, note := s.d.Refresh(ctx)
	spans := new(trace.Recorder)
	for reply, err := range s.d.Stream(trace.With(ctx, spans), q) {
		reply.Note = note
		if reply.System != "" { // it is complete
			reply.Trace = spans
		}
		if err != nil {
			reply.Error = err.Error()
		}
		if !send(reply) {
			return
		}
	}
}

// about serves the overview of the folder, or the error of a condition.
func (s *site) about(w http.ResponseWriter, r *http.Request) {
	q, _, err := query(r.URL.Query().Get)
	about := map[string]any{}
	if err == nil {
		about, err = s.d.About(r.Context(), q.Where)
	}
	if err != nil {
		about = map[string]any{"error": err.Error()}
	}
	write(w, about, 0, nil)
}

// suggestions serves questions that the files answer.
func (s *site) suggestions(w http.ResponseWriter, r *http.Request) {
	questions, err := s.d.Suggestions(r.Context())
	write(w, map[string][]string{"questions": questions}, http.StatusServiceUnavailable, err)
}

// source serves the text of an indexed file around a quote.
func (s *site) source(w http.ResponseWriter, r *http.Request) {
	get := r.URL.Query().Get
	q, status, err := query(get)
	start, err1 := strconv.Atoi(get("start"))
	end, err2 := strconv.Atoi(cmp.Or(get("end"), get("start")))
	if err == nil && (err1 != nil || err2 != nil) {
		err = errors.New("want start, and perhaps end: bytes of the text of the file")
	}
	var e Source
	if err == nil {
		status = http.StatusNotFound
		e, err = s.d.Excerpt(get("file"), start, end, q.Where)
	}
	write(w, e, status, err)
}

// pdf serves a PDF of the index. The policy of the page would block the browser's viewer; a PDF runs no
// script in the page.
func (s *site) pdf(w http.ResponseWriter, r *http.Request) {
	q, status, err := query(r.URL.Query().Get)
	var f *os.File
	if err == nil {
		status = http.StatusNotFound
		f, err = s.d.PDF(r.URL.Query().Get("file"), q.Where)
	}
	var info os.FileInfo
	if err == nil {
		defer f.Close()
		if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
			err = errors.New("it is not a regular file")
		}
	}
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'")
	w.Header().Set("Content-Type", "application/pdf")
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// facts serves the facts around the names in a question. A graph of some files may need a model, which no
// GET request calls.
func (s *site) facts(w http.ResponseWriter, r *http.Request) {
	q, status, err := query(r.URL.Query().Get)
	if err == nil && q.Where != nil && s.d.Paid() {
		status, err = http.StatusForbidden, errors.New("the graph of some files can cost calls of a model: ask for it by POST /graph")
	}
	var n Neighbourhood
	if err == nil {
		status = http.StatusNotFound
		n, err = s.d.Around(r.Context(), q, maxFacts)
	}
	write(w, n, status, err)
}

// write writes a value as JSON, or the error with a status.
func write(w http.ResponseWriter, v any, status int, err error) {
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = display.JSON(w).Encode(v) // fails if the browser disconnected
}
