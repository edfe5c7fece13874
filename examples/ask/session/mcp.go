// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Bounds of requests and results.
const (
	maxLine     = 1 << 20
	maxResults  = 50
	callsAtOnce = 8
	least       = 40 // bytes that an answer grows by between two progress notifications; long answers grow by an eighth
)

// The inputs of the tools.
type searchInput struct {
	Query string `json:"query" jsonschema:"what to look for: a question or some words"`
	K     int    `json:"k,omitempty" jsonschema:"how many passages, 5 if left out, at most 50"`
	conditionInput
}

// conditionInput is an input of all tools.
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

// place is a place of a file, as search and find return it.
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

// MCPServer serves a folder by the Model Context Protocol: the tools search, ask and neighbours, and for
// agents that search themselves find, read and answer.
func MCPServer(d *Session) *mcp.Server {
	version := "(devel)" // of the main module of the program
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
	closeOnce := sync.OnceValue(func() error {
		if c, ok := in.(io.Closer); ok {
			return c.Close()
		}
		return nil
	})
	open := func() error { return nil }
	err := MCPServer(d).Run(ctx, &mcp.IOTransport{Reader: stream{Reader: in, close: closeOnce}, Writer: stream{Writer: out, close: open}, MaxLineLength: maxLine})
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) || ctx.Err() != nil {
		return nil // the client disconnected
	}
	return fmt.Errorf("mcp: %w", err)
}

// stream is one direction of a connection.
type stream struct {
	io.Reader
	io.Writer
	close func() error
}

func (s stream) Close() error { return s.close() }

// tools implements the tools. turn bounds the number of concurrent calls.
type tools struct {
	d    *Session
	turn chan struct{}
}

// mcpCall is a running call with its condition and the note of [session.Session.Refresh].
type mcpCall struct {
	context.Context
	req   *mcp.CallToolRequest
	where *graphrag.Condition
	note  string
}

// toolInput is the input of a tool: a text and a condition.
type toolInput interface{ asks() (text, where string) }

func (in searchInput) asks() (text, where string)     { return in.Query, in.Where }
func (in askInput) asks() (text, where string)        { return in.Question, in.Where }
func (in neighboursInput) asks() (text, where string) { return in.Name, in.Where }
func (in findInput) asks() (text, where string)       { return in.Pattern, in.Where }
func (in readInput) asks() (text, where string)       { return in.Path, in.Where }
func (in answerInput) asks() (text, where string)     { return in.Answer, in.Where }

// handle checks the input, waits for a turn, refreshes the index, and calls the tool.
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
			_ = c.req.Session.NotifyProgress(c, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Message: r.Answer}) // fails if the client disconnected
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

// within returns n up to maxResults, or the default if n is not positive.
func within(n, byDefault int) int {
	if n <= 0 {
		return byDefault
	}
	return min(n, maxResults)
}
