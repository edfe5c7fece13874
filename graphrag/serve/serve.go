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
	"log"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// Options are the options of [New]. Zero values mean the defaults.
type Options struct {
	// Tokens are the users by their bearer token, as [ReadTokens] returns them. Without tokens there is no
	// login, and requests have to name this machine (see [FromHere]).
	Tokens map[string]Token
	// Hosts are further host names that requests without tokens may name, for a proxy in front of this server.
	Hosts []string
	// ReadOnly forbids all users to put and delete documents.
	ReadOnly bool
	// K is the number of passages that are read for an answer; 0 means that the system decides.
	K int
	// AtOnce is the number of questions that are answered at a time, by default 8; further questions get a
	// reply that asks to try again.
	AtOnce int
	// PerMinute is the number of requests that a token may send in a minute, or, without tokens, all clients
	// together; by default 600.
	PerMinute int
	// MaxBody is the largest size of a request in bytes, by default 16 MiB. It may put several documents.
	MaxBody int64
	// Timeout is the time limit of an answer, by default 5 minutes.
	Timeout time.Duration
	// Cite returns the line of a citation below an answer; nil means the title and the ID of the document.
	Cite func(a graphrag.Answer, c graphrag.Citation) string
	// Failed receives errors that the request did not cause. Their text may contain addresses of internal
	// servers, so replies omit it. Nil logs them.
	Failed func(error)
}

const (
	maxK        = 1000
	defaultHits = 5        // number of hits of a search
	maxQuestion = 64 << 10 // bytes of a question
	maxReply    = 8 << 20  // bytes of the hits in a reply
)

// server answers the requests.
type server struct {
	system  graphrag.System
	o       Options
	turn    chan struct{}
	writing chan struct{}               // held from the check of a document to its change
	users   map[[sha256.Size]byte]*user // by SHA-256 of the token, so that a lookup does not reveal tokens by its time
	anyone  *user                       // the user without tokens
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
	if err := errors.Join(checks.Err(), checkTokens(o.Tokens)); err != nil {
		return nil, err
	}
	if o.Failed == nil {
		o.Failed = func(err error) { log.Print(err) }
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
	for _, path := range []string{"GET /healthz", "GET /readyz"} { // a test question could cost a call of a model; the system is indexed, so it is ready
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { reply(w, map[string]string{"status": "ok"}) })
	}
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI) // the client may be gone
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
	if len(o.Tokens) > 0 {
		return mux, nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !FromHere(r, o.Hosts...) {
			fail(w, problem{http.StatusForbidden, "forbidden", "without tokens this service is for this machine alone: ask it as localhost, or name the host in Options.Hosts"})
			return
		}
		mux.ServeHTTP(w, r)
	}), nil
}

//go:embed openapi.json
var openAPI []byte

// problem is an error with its HTTP status and code.
type problem struct {
	status int
	code   string
	text   string
}

func (p problem) Error() string { return p.text }

func bad(format string, args ...any) error {
	return problem{http.StatusBadRequest, "invalid_request", fmt.Sprintf(format, args...)}
}

// problem returns the reply to an error. Failed receives errors that the request did not cause.
func (s *server) problem(of string, err error) (p problem) {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return problem{http.StatusRequestEntityTooLarge, "request_too_large", fmt.Sprintf("the request has more than %d bytes", large.Limit)}
	case errors.As(err, &p):
		return p
	case !errors.Is(err, context.Canceled): // not if the client is gone
		s.o.Failed(fmt.Errorf("serve: %s: %w", of, err))
	}
	return problem{http.StatusInternalServerError, "server_error", "the system failed: the log of the service tells why"}
}

// body returns the problem in OpenAI's form.
func (p problem) body() map[string]any {
	kind := "invalid_request_error"
	if p.status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	return map[string]any{"message": p.text, "type": kind, "param": nil, "code": p.code}
}

func fail(w http.ResponseWriter, p problem) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": p.body()})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// guarded returns a handler that finds the user of a request, and enforces the limits.
func (s *server) guarded(handle func(http.ResponseWriter, *http.Request, *user) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		u := s.anyone
		if len(s.users) > 0 {
			scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			if u = s.users[sha256.Sum256([]byte(strings.TrimLeft(token, " ")))]; u == nil || !strings.EqualFold(scheme, "Bearer") {
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
		if r.ContentLength > s.o.MaxBody { // refused before the body is read
			w.Header().Set("Connection", "close")
			fail(w, s.problem(r.Pattern, &http.MaxBytesError{Limit: s.o.MaxBody}))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, s.o.MaxBody)
		ctx, cancel := context.WithTimeout(r.Context(), s.o.Timeout)
		defer cancel()
		if u.Scope != nil {
			ctx = graphrag.WithScope(ctx, *u.Scope)
		}
		if err := handle(w, r.WithContext(ctx), u); err != nil {
			fail(w, s.problem(r.Pattern, err))
		}
	}
}

// begin reserves one of the AtOnce places for a question; without a free one the reply asks to try again.
func (s *server) begin(w http.ResponseWriter) (end func(), err error) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	default:
		w.Header().Set("Retry-After", "1")
		return nil, problem{http.StatusServiceUnavailable, "overloaded", "other questions are being answered: try again"}
	}
}

// decode decodes a body in JSON.
func decode(r *http.Request, to any) error {
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

// questionBody is the body of a request with a question.
type questionBody struct {
	Question string              `json:"question"`
	Query    string              `json:"query"`
	K        int                 `json:"k"`
	Form     graphrag.Form       `json:"form"`
	Where    *graphrag.Condition `json:"where"`
}

// question checks a question, and reserves a place for it.
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
	var in questionBody
	if err := decode(r, &in); err != nil {
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
		return questionError(err)
	}
	reply(w, struct {
		graphrag.Answer
		Uncited bool `json:"uncited,omitempty"`
	}{a, a.Uncited()})
	return nil
}

func (s *server) search(w http.ResponseWriter, r *http.Request, _ *user) error {
	var in questionBody
	if err := decode(r, &in); err != nil {
		return err
	}
	q, end, err := s.question(w, cmp.Or(in.Query, in.Question), cmp.Or(in.K, s.o.K, defaultHits), in.Where)
	if err != nil {
		return err
	}
	defer end()
	found, err := s.system.Retrieve(r.Context(), q)
	if err != nil {
		return questionError(err)
	}
	hits := found.Ranked
	if hits == nil {
		hits = append([]graphrag.Hit{}, found.Evidence...)
	}
	return replyHits(w, hits)
}

// replyHits replies with the hits of a search, as many as maxReply allows: fields and titles may be long.
func replyHits(w http.ResponseWriter, hits []graphrag.Hit) error {
	out, size := make([]json.RawMessage, 0, len(hits)), 0
	for _, h := range hits {
		b, err := json.Marshal(h)
		if err != nil {
			return err
		}
		if size += len(b); size > maxReply && len(out) > 0 {
			break
		}
		out = append(out, b)
	}
	body := map[string]any{"hits": out}
	if len(out) < len(hits) {
		body["truncated"] = true
	}
	reply(w, body)
	return nil
}

// lister is a system that can list its documents, such as kit.System.
type lister interface {
	List(ctx context.Context) ([]string, error)
	Get(ctx context.Context, id string) (chunks []graphrag.Chunk, ok bool, err error)
}

// listed is a document without its text.
type listed struct {
	ID     string          `json:"id"`
	Title  string          `json:"title,omitempty"`
	Fields graphrag.Fields `json:"fields,omitempty"`
}

// sees returns a function that reports, by the fields of a document, whether the user may see it.
func (u *user) sees() func(graphrag.Fields) bool {
	if u.Scope == nil {
		return func(graphrag.Fields) bool { return true }
	}
	return graphrag.NewScope(*u.Scope).Compile()
}

func (s *server) list(w http.ResponseWriter, r *http.Request, u *user) error {
	l, ok := s.system.(lister)
	if !ok {
		return problem{http.StatusNotImplemented, "not_supported", s.system.Name() + " does not list its documents"}
	}
	out, sees := []listed{}, u.sees()
	ids, err := l.List(r.Context())
	for _, id := range ids {
		chunks, _, failed := l.Get(r.Context(), id)
		switch err = cmp.Or(err, failed); {
		case err != nil:
			return questionError(err)
		case len(chunks) > 0 && sees(chunks[0].Fields):
			out = append(out, listed{id, chunks[0].Title, chunks[0].Fields})
		case len(chunks) == 0 && u.Scope == nil:
			out = append(out, listed{ID: id})
		}
	}
	if err != nil {
		return questionError(err)
	}
	reply(w, map[string]any{"documents": out})
	return nil
}

func (s *server) put(w http.ResponseWriter, r *http.Request, u *user) error {
	var in struct{ Documents []graphrag.Document }
	if !u.Write {
		return errReads
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	seen, sees := map[string]bool{}, u.sees()
	for _, d := range in.Documents {
		switch {
		case d.ID == "" || seen[d.ID]:
			return bad("the document %.200q has no id of its own", d.ID)
		case path.Clean("/"+d.ID) != "/"+d.ID: // DELETE cannot name such an ID
			return bad("the document %.200q: its id has a part that is empty, . or .., or a slash at an end", d.ID)
		}
		if err := d.Fields.Check(); err != nil {
			return bad("the document %.200q: %v", d.ID, err)
		}
		if !sees(d.Fields) {
			return problem{http.StatusForbidden, "forbidden", fmt.Sprintf("the fields of %.200q are outside of the scope of this token", d.ID)}
		}
		if strings.TrimSpace(d.Text) == "" {
			return bad("the document %.200q has no text: delete it instead", d.ID)
		}
		seen[d.ID] = true
	}
	if len(in.Documents) == 0 {
		return bad(`there is no document: want {"documents": [{"id": "…", "text": "…"}]}`)
	}
	return s.change(w, r, u, slices.Collect(maps.Keys(seen)), func() (graphrag.IndexStats, error) {
		return s.system.Insert(r.Context(), graphrag.Documents(in.Documents...))
	})
}

func (s *server) delete(w http.ResponseWriter, r *http.Request, u *user) error {
	if !u.Write {
		return errReads
	}
	id := r.PathValue("id")
	return s.change(w, r, u, []string{id}, func() (graphrag.IndexStats, error) { return s.system.Delete(r.Context(), id) })
}

var errReads = problem{http.StatusForbidden, "read_only", "this token reads only"}

// change changes documents, unless one of them exists outside of the scope of the user. The reply contains the
// size of the index if the user may see all documents.
func (s *server) change(w http.ResponseWriter, r *http.Request, u *user, ids []string, do func() (graphrag.IndexStats, error)) error {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-r.Context().Done():
		return questionError(r.Context().Err())
	}
	if u.Scope != nil {
		l, ok := s.system.(lister)
		if !ok {
			return problem{http.StatusNotImplemented, "not_supported", s.system.Name() + " does not tell whose documents are"}
		}
		sees := u.sees()
		for _, id := range ids {
			chunks, ok, err := l.Get(r.Context(), id)
			if err != nil {
				return questionError(err)
			}
			if ok && (len(chunks) == 0 || !sees(chunks[0].Fields)) {
				return problem{http.StatusForbidden, "forbidden", fmt.Sprintf("the document %.200q is not in the scope of this token", id)}
			}
		}
	}
	stats, err := do()
	if err != nil {
		return questionError(err)
	}
	out := map[string]any{"status": "ok"}
	if u.Scope == nil {
		out["documents"], out["chunks"] = stats.Documents, stats.Chunks
	}
	reply(w, out)
	return nil
}
