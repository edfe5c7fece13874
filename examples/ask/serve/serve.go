// SPDX-License-Identifier: Apache-2.0

// Package serve answers questions on a page in the browser, for this machine alone.
//
// The page loads nothing from elsewhere and shows all text as text. Requests for another
// host name are refused (DNS rebinding), and so are requests that another site makes a
// browser send, GET included, for anything but the static files. No GET calls a model: a link
// with ?q= is asked at once only if that costs nothing, suggestions are made without one, and
// GET /api/source reads files of the index from the index. With a system that has a graph, GET /api/graph?q=QUESTION returns the facts around what the
// question names, and POST /graph, a form with the field q, answers the question and draws
// the part of the graph that led to the answer.
package serve

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wildgraph/wildgraph/examples/ask/desk"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/serve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/trace"
)

//go:embed page.html page.css page.js markdown.js
var files embed.FS

// Bounds of what a browser may send, and of how long things may take.
const (
	maxBody     = 64 << 10
	maxTalk     = 4 << 20 // of a chat program, which sends all that was said
	maxQuestion = 8 << 10
	maxBefore   = 50
	atOnce      = 4
	maxFacts    = 30
	patience    = 5 * time.Minute
	readTimeout = 10 * time.Second
	goodbye     = 3 * time.Second
)

// Address is the address of this machine that a flag names: ":8080", "8080",
// "localhost:8080", "[::1]:0".
func Address(s string) (string, error) {
	if !strings.Contains(s, ":") {
		s = ":" + s
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", fmt.Errorf("%q is no port: want a number from 0 to 65535, 0 for a free one", port)
	}
	switch host {
	case "", "localhost":
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return "", fmt.Errorf("%s is not this machine alone: the page has no login; put a server that has one before 127.0.0.1", host)
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}

// Run serves until ctx ends, and then lets answers that are under way end for a moment:
// the page with its API to this machine, or with tokens the API alone, to whoever has one.
// ready is told the address.
func Run(ctx context.Context, d *desk.Desk, address string, tokens map[string]serve.Token, ready func(url string)) (err error) {
	if tokens == nil {
		if address, err = Address(address); err != nil {
			return fmt.Errorf("serve: %w", err)
		}
	}
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("serve: %s is in use by another program: take another port, or :0 for a free one", address)
	} else if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	at := listener.Addr().String()
	handler, err := Handler(d, at, tokens)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: patience + readTimeout,
		IdleTimeout: time.Minute, MaxHeaderBytes: maxBody, BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	ready("http://" + at + "/")
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return server.Close()
	}
	return nil
}

// Handler is the API for those with tokens; without any it is that, the page and what the
// page asks, at an address.
func Handler(d *desk.Desk, address string, tokens map[string]serve.Token) (http.Handler, error) {
	api, err := serve.New(d.System(), serve.Options{Tokens: tokens, ReadOnly: true, K: d.K(), AtOnce: atOnce, MaxBody: maxTalk, Timeout: patience, Cite: d.At})
	if err != nil || tokens != nil {
		return api, err
	}
	s := &site{d: d, turn: make(chan struct{}, atOnce)}
	mux := http.NewServeMux()
	for _, name := range []string{"page.html", "page.css", "page.js", "markdown.js"} {
		mux.HandleFunc("GET /"+strings.Replace(name, "page.html", "{$}", 1), func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, name) })
	}
	mux.HandleFunc("GET /api/about", s.about)
	mux.HandleFunc("GET /api/suggestions", s.suggestions)
	mux.HandleFunc("GET /api/source", s.source)
	mux.HandleFunc("GET /api/graph", s.facts)
	mux.HandleFunc("POST /graph", s.graph)
	mux.HandleFunc("POST /api/ask", s.ask)
	for _, path := range []string{"/v1/", "/healthz", "/readyz", "/openapi.json"} {
		mux.Handle(path, api)
	}
	return guard(address, http.NewCrossOriginProtection().Handler(mux)), nil
}

// guard refuses requests for another host name, and requests of other sites for anything
// but the static files.
func guard(address string, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(address)
	hosts := []string{address, net.JoinHostPort("localhost", port), net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port)}
	if port == "80" { // browsers leave it out
		hosts = append(hosts, "localhost", "127.0.0.1", "[::1]", strings.TrimSuffix(address, ":80"))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		dynamic := strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/v1/") || r.URL.Path == "/graph"
		if !slices.Contains(hosts, r.Host) || origin != "" && origin != "http://"+r.Host || dynamic && fromElsewhere(r) {
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

// fromElsewhere reports whether another site made a browser send the request, by the header
// Sec-Fetch-Site, or by Referer in browsers that do not send it.
func fromElsewhere(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site != "same-origin" && site != "none"
	}
	referer := r.Header.Get("Referer")
	return referer != "" && !strings.HasPrefix(referer, "http://"+r.Host+"/")
}

// site answers requests. turn bounds how many are answered at a time.
type site struct {
	d    *desk.Desk
	turn chan struct{}
}

// graph is a page of its own, with its own policy in it.
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
	_, _ = page.WriteTo(w) // a browser that left is no error
}

// query reads a question and its condition from a form, or says with which status it is
// refused.
func query(value func(key string) string) (q desk.Query, status int, err error) {
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

// begin takes a turn, and says so if there is none.
func (s *site) begin(w http.ResponseWriter) (end func(), ok bool) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, true
	default:
		http.Error(w, "other questions are being answered: try again", http.StatusServiceUnavailable)
		return nil, false
	}
}

// ask streams replies, a line of JSON each: the last one is whole, or has an error.
func (s *site) ask(w http.ResponseWriter, r *http.Request) {
	if form, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); form != "application/json" {
		http.Error(w, "want application/json", http.StatusUnsupportedMediaType)
		return
	}
	var q desk.Query
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
	end, ok := s.begin(w) // after the body: a slow one takes no turn
	if !ok {
		return
	}
	defer end()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, flush := text.JSON(w), http.NewResponseController(w)
	send := func(reply desk.Reply) bool { return out.Encode(reply) == nil && flush.Flush() == nil }
	_, note := s.d.Refresh(ctx)
	spans := new(trace.Recorder)
	for reply, err := range s.d.Stream(trace.With(ctx, spans), q) {
		reply.Note = note
		if reply.System != "" { // it is whole
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
