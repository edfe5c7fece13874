// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wildgraph/wildgraph/llm"
)

// DefaultDimensions is the number of dimensions of a [Server]'s vectors.
const DefaultDimensions = 32

// ServerOptions tune a [Server]; the zero value is good.
type ServerOptions struct {
	// Handler answers chats; nil means [Default].
	Handler Handler
	// Embed returns the vector of a text; nil means [HashVector] with DefaultDimensions.
	Embed func(text string) []float32
	// Key, when set, is the bearer token that requests must carry.
	Key string
	// InMemory keeps the server off the network: only [Server.Transport] reaches it, and in a bubble of
	// testing/synctest its time is virtual.
	InMemory bool
}

// Server speaks, on the loopback interface,
//
//	POST /v1/chat/completions  /v1/embeddings   OpenAI
//	POST /api/chat             /api/embed       Ollama
//
// It records requests, fails on command ([Server.Fail]), and bills each reply that it starts to send. Close
// it after use.
type Server struct {
	// URL is the address without a path, as clients of Ollama want it.
	URL string

	o         ServerOptions
	http      *httptest.Server
	transport *http.Transport
	done      chan struct{}
	closed    atomic.Bool

	mu       sync.Mutex
	faults   []Fault
	chance   func(r Received, n int) Fault
	seen     map[string]int // number of requests without a queued fault by path and body
	requests []Received
	bill     Bill
}

// Received is a request that the server has received.
type Received struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Bill is the usage that a provider would charge.
type Bill struct {
	// Total is the usage of all requests. ByKey has it by request: the hexadecimal SHA-256 of path, "\n" and body.
	Total llm.Usage
	ByKey map[string]llm.Usage
}

// Fault changes how one request is answered. The zero Fault changes nothing: one request succeeds.
type Fault struct {
	// When selects requests; nil selects all. The first selected request gets the fault.
	When func(Received) bool
	// Delay is the wait before the reply. With Hang nothing is ever sent.
	Delay time.Duration
	Hang  bool
	// Reset drops the connection before the reply.
	Reset bool
	// Raw is sent unchanged in place of the HTTP reply, and the connection is closed.
	Raw string
	// Status, Header and Body replace the reply, which is then not billed. An error status without a Body sends
	// an error object.
	Status int
	Header map[string]string
	Body   string
	// CutAfter, if positive, drops the connection after that number of bytes of the body. After StallAfter
	// bytes the connection stays open and nothing more is sent.
	CutAfter, StallAfter int
	// Reply replaces the handler's reply, for example by one with [llm.FinishLength] or without text.
	Reply *llm.Reply
	// Answer replaces the handler.
	Answer Handler
	// EmptyChoices sends no choice, and in Ollama's format, which has no choices, no text.
	EmptyChoices bool
	// NoUsage omits the token counts. Usage, if set, replaces each of them.
	NoUsage bool
	Usage   json.RawMessage
	// Vector returns the value that is sent in place of the correct vector.
	Vector func([]float32) any
	// Lost bills the reply, but sends only Raw and drops the connection.
	Lost bool
	// Shuffle sends embeddings in reverse order, with the right indexes.
	Shuffle bool
}

// HTMLPage returns the reply of a misconfigured proxy: an HTML page with status 200.
func HTMLPage() Fault {
	return Fault{Status: http.StatusOK, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<!DOCTYPE html><html><body><h1>Welcome to nginx!</h1></body></html>"}
}

// TooManyRequests returns a reply with status 429 and a Retry-After of the given seconds.
func TooManyRequests(seconds int) Fault {
	return Fault{Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": strconv.Itoa(seconds)}}
}

// NewServer starts a server.
func NewServer(o ServerOptions) *Server {
	if o.Handler == nil {
		o.Handler = Default
	}
	if o.Embed == nil {
		o.Embed = func(text string) []float32 { return HashVector(text, DefaultDimensions) }
	}
	s := &Server{o: o, done: make(chan struct{}), seen: map[string]int{}, bill: Bill{ByKey: map[string]llm.Usage{}}}
	if o.InMemory {
		m := memory{make(chan net.Conn), s.done}
		s.http = &httptest.Server{Listener: m, Config: &http.Server{Handler: http.HandlerFunc(s.serve)}}
		s.http.Start()
		s.transport = &http.Transport{DialContext: m.dial}
	} else {
		s.http = httptest.NewServer(http.HandlerFunc(s.serve))
		s.transport = &http.Transport{}
	}
	s.URL = s.http.URL
	return s
}

// OpenAIURL returns the base URL for OpenAI-compatible clients.
func (s *Server) OpenAIURL() string { return s.URL + "/v1" }

// Transport returns a transport that reaches the server, in memory or not, for the Base of [transport.Options].
func (s *Server) Transport() http.RoundTripper { return s.transport }

// Close stops the server and the requests in it.
func (s *Server) Close() {
	if !s.closed.CompareAndSwap(false, true) {
		return
	}
	close(s.done)
	s.transport.CloseIdleConnections()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Fail queues faults: each changes the answer to one coming request.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Requests returns the requests received so far.
func (s *Server) Requests() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Bill returns the usage billed so far.
func (s *Server) Bill() Bill {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Bill{Total: s.bill.Total, ByKey: maps.Clone(s.bill.ByKey)}
}

func (s *Server) charge(r Received, u llm.Usage) {
	key := fmt.Sprintf("%x", sha256.Sum256(append([]byte(r.Path+"\n"), r.Body...)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bill.Total = s.bill.Total.Add(u)
	s.bill.ByKey[key] = s.bill.ByKey[key].Add(u)
}

// receive records a request and returns its fault, which it removes from the queue.
func (s *Server) receive(r Received) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	for i, f := range s.faults {
		if f.When == nil || f.When(r) {
			s.faults = slices.Delete(s.faults, i, i+1)
			return f
		}
	}
	id := r.Path + "\n" + string(r.Body)
	s.seen[id]++
	if s.chance == nil {
		return Fault{}
	}
	return s.chance(r, s.seen[id])
}

// Trouble sets a function that returns the fault of a request without one in the queue, the n-th such request
// with its path and body; nil removes the function.
func (s *Server) Trouble(f func(r Received, n int) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chance = f
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r := Received{Path: req.URL.Path, Header: req.Header.Clone(), Body: body}
	f := s.receive(r)
	if !s.wait(req, f) {
		panic(http.ErrAbortHandler)
	}
	if f.Lost {
		if _, usage, status := s.answer(r, f); status == http.StatusOK {
			s.charge(r, usage)
		}
	}
	if f.Reset || f.Lost || f.Raw != "" {
		drop(w, f.Raw)
		return
	}
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	if f.Status != 0 {
		sent := []byte(f.Body)
		if f.Body == "" && f.Status >= 400 {
			sent = errorBody(http.StatusText(f.Status), "")
		}
		s.send(w, req, f, f.Status, sent)
		return
	}
	if s.o.Key != "" && req.Header.Get("Authorization") != "Bearer "+s.o.Key {
		s.send(w, req, f, http.StatusUnauthorized, errorBody("Incorrect API key provided.", "invalid_api_key"))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	reply, usage, status := s.answer(r, f)
	if status == http.StatusOK {
		s.charge(r, usage)
		reply = streamed(r, reply)
	}
	s.send(w, req, f, status, reply)
}

// answer makes the body of the reply in the wire format of the path.
func (s *Server) answer(r Received, f Fault) (body []byte, u llm.Usage, status int) {
	format := map[string]func(Received, Fault) (map[string]any, llm.Usage, error){
		"/v1/chat/completions": s.openaiChat,
		"/v1/embeddings":       s.openaiEmbeddings,
		"/api/chat":            s.ollamaChat,
		"/api/embed":           s.ollamaEmbed,
	}[r.Path]
	if format == nil {
		return errorBody("unknown path "+r.Path, "not_found"), u, http.StatusNotFound
	}
	out, u, err := format(r, f)
	if err == nil {
		body, err = json.Marshal(out)
	}
	if err != nil {
		return errorBody(err.Error(), "invalid_request_error"), u, http.StatusBadRequest
	}
	return body, u, http.StatusOK
}

// wait delays the reply; it returns false if the client gives up or the server is closed.
func (s *Server) wait(req *http.Request, f Fault) bool {
	var after <-chan time.Time
	switch {
	case f.Hang:
	case f.Delay > 0:
		after = time.After(f.Delay)
	default:
		return true
	}
	select {
	case <-after:
		return true
	case <-req.Context().Done():
	case <-s.done:
	}
	return false
}

func (s *Server) send(w http.ResponseWriter, req *http.Request, f Fault, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	stop := f.CutAfter
	if f.StallAfter > 0 {
		stop = f.StallAfter
	}
	if stop <= 0 || stop >= len(body) {
		_, _ = io.Copy(w, bytes.NewReader(body))
		return
	}
	_, _ = w.Write(body[:stop])
	_ = http.NewResponseController(w).Flush()
	if f.StallAfter > 0 {
		s.wait(req, Fault{Hang: true})
	}
	panic(http.ErrAbortHandler) // net/http's way to drop a connection
}

// drop sends raw bytes and closes the connection; without bytes it resets the TCP connection.
func drop(w http.ResponseWriter, raw string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && raw == "" {
		_ = tcp.SetLinger(0)
	}
	_, _ = io.WriteString(conn, raw)
	_ = conn.Close()
}

func errorBody(message, code string) []byte {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": code, "code": code}})
	return b
}

// memory is a listener of in-memory pipes, whose waits testing/synctest sees. It is closed with its server.
type memory struct {
	conns chan net.Conn
	done  chan struct{} // closed when the server closes
}

func (m memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

func (m memory) Close() error { return nil }

// Addr returns an address for the URL of the server, which is never dialed.
func (m memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (m memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.conns <- server:
		return client, nil
	case <-m.done:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
