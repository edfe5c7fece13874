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
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/serve"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/display"
)

//go:embed page.html page.css page.js markdown.js
var pageFiles embed.FS

// Limits of requests.
const (
	maxBody     = 64 << 10
	maxTalk     = 4 << 20 // bytes of a chat program's request, which has the whole conversation
	maxQuestion = 8 << 10
	maxBefore   = 50
	atOnce      = 4
	maxFacts    = 30
	patience    = 5 * time.Minute
)

// Serve serves until ctx ends. Without tokens it serves the page and its API to this machine, with tokens only
// the API, to clients with a token. It passes the address to ready.
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

// Handler returns the API. Without tokens it also serves the page and the API of the page.
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
	mux.HandleFunc("GET /api/suggestions", func(w http.ResponseWriter, r *http.Request) { // questions that the files can answer
		questions, err := d.Suggestions(r.Context())
		write(w, map[string][]string{"questions": questions}, http.StatusServiceUnavailable, err)
	})
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

// site serves the page's API. turn has a slot for each concurrent answer.
type site struct {
	d    *Session
	turn chan struct{}
}

// graph serves a page with its own policy.
func (s *site) graph(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	q, _, err := queryOf(r.PostFormValue)
	if err == nil && strings.TrimSpace(q.Question) == "" {
		err = errors.New("the form has no question: want the field q")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, end, ok := s.begin(w, r)
	if !ok {
		return
	}
	defer end()
	var page bytes.Buffer
	if err := s.d.WriteGraph(ctx, &page, q); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteTo(w) // an error means that the browser disconnected
}

// queryOf reads a question and its condition from form values. For an error it returns the HTTP status.
func queryOf(value func(key string) string) (q Query, status int, err error) {
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

// begin takes one of the slots for answers, for a limited time. If none is free it responds with an error.
func (s *site) begin(w http.ResponseWriter, r *http.Request) (ctx context.Context, end func(), ok bool) {
	select {
	case s.turn <- struct{}{}:
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		return ctx, func() { cancel(); <-s.turn }, true
	default:
		http.Error(w, "other questions are being answered: try again", http.StatusServiceUnavailable)
		return nil, nil, false
	}
}

// ask streams replies as lines of JSON. The last one is complete or has an error.
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
	ctx, end, ok := s.begin(w, r) // only after the body is read, so that a slow client takes no slot
	if !ok {
		return
	}
	defer end()
	w.Header().Set("Content-Type", "application/x-ndjson")
	out, flush := display.JSON(w), http.NewResponseController(w)
	send := func(reply Reply) bool { return out.Encode(reply) == nil && flush.Flush() == nil }
	_, note := s.d.Refresh(ctx)
	spans := new(trace.Recorder)
	for reply, err := range s.d.Stream(trace.With(ctx, spans), q) {
		reply.Note = note
		if reply.System != "" { // the reply is complete
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

// about serves the overview of the folder, or an error in the condition.
func (s *site) about(w http.ResponseWriter, r *http.Request) {
	q, _, err := queryOf(r.URL.Query().Get)
	about := map[string]any{}
	if err == nil {
		about, err = s.d.About(r.Context(), q.Where)
	}
	if err != nil {
		about = map[string]any{"error": err.Error()}
	}
	write(w, about, 0, nil)
}

// source serves the text around a quote in an indexed file.
func (s *site) source(w http.ResponseWriter, r *http.Request) {
	get := r.URL.Query().Get
	q, status, err := queryOf(get)
	start, err1 := strconv.Atoi(get("start"))
	end, err2 := strconv.Atoi(cmp.Or(get("end"), get("start")))
	if err == nil && (err1 != nil || err2 != nil) {
		err = errors.New("want start, and optionally end, as byte offsets in the text of the file")
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
	q, status, err := queryOf(r.URL.Query().Get)
	var f *os.File
	if err == nil {
		status = http.StatusNotFound
		f, err = s.d.PDF(r.URL.Query().Get("file"), q.Where)
	}
	var info os.FileInfo
	if err == nil {
		defer f.Close()
		if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
			err = errors.New("the PDF is not a regular file")
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

// facts serves the facts around the names in a question. With a condition this may call a model, and is then
// refused, since no GET request may do so.
func (s *site) facts(w http.ResponseWriter, r *http.Request) {
	q, status, err := queryOf(r.URL.Query().Get)
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
	_ = display.JSON(w).Encode(v) // an error means that the browser disconnected
}

// Limits of requests and results of the tools.
const (
	maxLine     = 1 << 20
	maxResults  = 50
	callsAtOnce = 8
	least       = 40 // bytes of answer between progress notifications; for long answers an eighth of the length
)

// searchInput is the input of a tool, as are the types below.
type searchInput struct {
	Query string `json:"query" jsonschema:"what to look for: a question or some words"`
	K     int    `json:"k,omitempty" jsonschema:"how many passages, 5 if left out, at most 50"`
	conditionInput
}

// conditionInput is the part of the input that all tools have.
type conditionInput struct {
	Where string `json:"where,omitempty" jsonschema:"a condition that limits it to some files, such as folder = \"notes\" and year >= 2024; fields are those of front matter, folder and kind"`
}

type searchOutput struct {
	Passages []Passage `json:"passages" jsonschema:"with file, place and score, best first"`
	Note     string    `json:"note,omitempty" jsonschema:"says that new or changed files are not searched yet"`
}

type askInput struct {
	Question string   `json:"question" jsonschema:"the question, in plain words"`
	Before   []string `json:"before,omitempty" jsonschema:"questions asked before, oldest first, that this one may lean on"`
	Answers  []string `json:"answers,omitempty" jsonschema:"the answers to them, an empty text for a refusal"`
	conditionInput
}

type neighboursInput struct {
	Name  string `json:"name" jsonschema:"the name of a person, place or thing"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many facts, 20 if left out, at most 50"`
	conditionInput
}

type findInput struct {
	Pattern string `json:"pattern" jsonschema:"a regular expression (RE2), case ignored; a word or a name is one, too"`
	conditionInput
}

type findOutput struct {
	Lines    []Passage `json:"lines" jsonschema:"lines that match, shared out over the files"`
	Matching int       `json:"matching" jsonschema:"how many lines match in all"`
	Files    int       `json:"files" jsonschema:"in how many files"`
}

// place is an offset in a file, as search and find return it.
type place struct {
	Path string `json:"path" jsonschema:"the path of a file, as search and find return it"`
	From int    `json:"from,omitempty" jsonschema:"a place in it, in bytes, as search and find return it"`
}

type readInput struct {
	place
	conditionInput
}

type answerInput struct {
	Answer string  `json:"answer" jsonschema:"the answer"`
	Cited  []place `json:"cited,omitempty" jsonschema:"the places that it rests on"`
	conditionInput
}

type answerOutput struct {
	Answer string    `json:"answer"`
	Cited  []Passage `json:"cited" jsonschema:"what stands at these places"`
	Unread []string  `json:"unread,omitempty" jsonschema:"cited paths that are no file of the folder"`
}

// MCPServer serves a folder by the Model Context Protocol: the tools search, ask and neighbours, and the tools
// find, read and answer for agents that search by themselves.
func MCPServer(d *Session) *mcp.Server {
	version := "(devel)" // version of the program's main module
	if info, ok := debug.ReadBuildInfo(); ok {
		version = cmp.Or(info.Main.Version, version)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "wildgraph-ask", Title: "Questions over " + d.Docs(), Version: version}, &mcp.ServerOptions{
		Instructions: "Searches and answers from the files of one folder. Answers quote files with line numbers; what the folder does not say is refused.",
	})
	t := tools{d, make(chan struct{}, callsAtOnce)}
	readOnly := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	mcp.AddTool(s, &mcp.Tool{Name: "search", Annotations: readOnly, Description: "Finds the passages of the folder that are most like a query, with path, line and score."}, handle(t, t.search))
	mcp.AddTool(s, &mcp.Tool{Name: "ask", Annotations: readOnly, Description: "Answers a question from the folder, with the quotes that say so and their places. Refuses what the folder does not say, and gives the closest passages."}, handle(t, t.ask))
	mcp.AddTool(s, &mcp.Tool{Name: "neighbours", Annotations: readOnly, Description: "Lists the facts around a name in the knowledge graph of the folder. Only systems with a graph have one; others say so."}, handle(t, t.neighbours))
	mcp.AddTool(s, &mcp.Tool{Name: "find", Annotations: readOnly, Description: "Finds the lines of the files that match a regular expression, and says how many there are."}, handle(t, t.find))
	mcp.AddTool(s, &mcp.Tool{Name: "read", Annotations: readOnly, Description: "Reads the passage of a file that has a place, then the one after and the one before it."}, handle(t, t.read))
	mcp.AddTool(s, &mcp.Tool{Name: "answer", Annotations: readOnly, Description: "Ends a search of your own: gives the answer back with what stands at the places that it cites, and says which are not there."}, handle(t, t.answer))
	return s
}

// ServeMCP serves one client on a pair of streams until it disconnects or ctx ends.
func ServeMCP(ctx context.Context, d *Session, in io.Reader, out io.Writer) error {
	reader, ok := in.(io.ReadCloser)
	if !ok {
		reader = io.NopCloser(in)
	}
	err := MCPServer(d).Run(ctx, &mcp.IOTransport{Reader: reader, Writer: unclosed{out}, MaxLineLength: maxLine})
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) || ctx.Err() != nil {
		return nil // the client disconnected
	}
	return fmt.Errorf("mcp: %w", err)
}

// unclosed is a writer that cannot be closed.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// tools implements the tools. turn has a slot for each concurrent call.
type tools struct {
	d    *Session
	turn chan struct{}
}

// mcpCall is a running call of a tool, with its condition and the note of [Session.Refresh].
type mcpCall struct {
	context.Context
	req   *mcp.CallToolRequest
	where *graphrag.Condition
	note  string
}

// toolInput is the input of a tool: it returns the input's text and its condition.
type toolInput interface{ asks() (text, where string) }

func (in searchInput) asks() (text, where string)     { return in.Query, in.Where }
func (in askInput) asks() (text, where string)        { return in.Question, in.Where }
func (in neighboursInput) asks() (text, where string) { return in.Name, in.Where }
func (in findInput) asks() (text, where string)       { return in.Pattern, in.Where }
func (in readInput) asks() (text, where string)       { return in.Path, in.Where }
func (in answerInput) asks() (text, where string)     { return in.Answer, in.Where }

// handle checks the input, waits for a slot, refreshes the index, and calls the tool.
func handle[In toolInput, Out any](t tools, do func(mcpCall, In) (Out, error)) mcp.ToolHandlerFor[In, Out] {
	return func(ctx context.Context, req *mcp.CallToolRequest, in In) (_ *mcp.CallToolResult, out Out, err error) {
		c := mcpCall{req: req}
		text, limit := in.asks()
		if len(text) > maxQuestion {
			return nil, out, fmt.Errorf("the text has %d bytes, want at most %d", len(text), maxQuestion)
		}
		if strings.TrimSpace(text) == "" {
			return nil, out, errors.New("the text is empty")
		}
		if limit != "" {
			where, err := graphrag.ParseCondition(limit)
			if err != nil {
				return nil, out, err
			}
			c.where = &where
		}
		var cancel context.CancelFunc
		c.Context, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
		select {
		case t.turn <- struct{}{}:
			defer func() { <-t.turn }()
		case <-c.Done():
			return nil, out, c.Err()
		}
		_, c.note = t.d.Refresh(c)
		out, err = do(c, in)
		return nil, out, err
	}
}

func (t tools) search(c mcpCall, in searchInput) (searchOutput, error) {
	found, err := t.d.Search(c, in.Query, within(in.K, 5), c.where)
	return searchOutput{append([]Passage{}, found...), c.note}, err
}

func (t tools) ask(c mcpCall, in askInput) (r Reply, err error) {
	skip := max(0, len(in.Before)-maxBefore)
	token, sent := c.req.Params.GetProgressToken(), 0
	for r, err = range t.d.Stream(c, Query{Question: in.Question, Before: in.Before[skip:], Answers: in.Answers[min(skip, len(in.Answers)):], Where: c.where}) {
		if err != nil {
			return Reply{}, err
		}
		if n := len(r.Answer); token != nil && r.System == "" && n-sent >= max(least, sent/8) {
			sent = n
			_ = c.req.Session.NotifyProgress(c, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Message: r.Answer}) // an error means that the client disconnected
		}
	}
	r.Passages, r.Note = nil, c.note
	return r, nil
}

func (t tools) neighbours(c mcpCall, in neighboursInput) (Neighbourhood, error) {
	return t.d.Neighbours(c, in.Name, within(in.Limit, 20), c.where)
}

func (t tools) find(c mcpCall, in findInput) (findOutput, error) {
	lines, matching, files, err := t.d.Find(c, in.Pattern, c.where)
	return findOutput{append([]Passage{}, lines...), matching, files}, err
}

func (t tools) read(c mcpCall, in readInput) (searchOutput, error) {
	read, err := t.d.Read(c, in.Path, in.From, c.where)
	return searchOutput{Passages: read}, err
}

func (t tools) answer(c mcpCall, in answerInput) (answerOutput, error) {
	out := answerOutput{Answer: in.Answer, Cited: []Passage{}}
	for _, cited := range in.Cited[:min(len(in.Cited), maxResults)] {
		if read, err := t.d.Read(c, cited.Path, cited.From, c.where); err == nil {
			out.Cited = append(out.Cited, read[0])
		} else {
			out.Unread = append(out.Unread, cited.Path)
		}
	}
	return out, c.Err()
}

// within returns n, but at most maxResults, or the default if n is not positive.
func within(n, byDefault int) int {
	if n <= 0 {
		return byDefault
	}
	return min(n, maxResults)
}
