// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// The tools of an agent that searches.
const (
	ToolSearch = "search" // finds passages similar to a query
	ToolRead   = "read"   // reads a passage of a page and its neighbours
	ToolFind   = "find"   // finds lines of pages that match a pattern
	ToolAnswer = "answer" // ends the search with an answer and its sources
)

// Call is a call of a tool, in the form that a model writes.
type Call struct {
	Tool string `json:"tool" llm:"enum=search|read|find|answer"`
	// Search takes Query; read takes Source, the name of a page, and From, the number of a passage; find takes Pattern.
	Query   string `json:"query,omitempty"`
	Source  string `json:"source,omitempty"`
	From    int    `json:"from,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	// Answer ends the search with IDs, the numbers of its sources.
	Answer string `json:"answer,omitempty"`
	IDs    []int  `json:"ids,omitempty"`
}

// about returns the subject of the call.
func (c Call) about() string {
	switch c.Tool {
	case ToolSearch:
		return c.Query
	case ToolRead:
		return fmt.Sprintf("%s, %d", c.Source, c.From)
	}
	return c.Pattern
}

// Result is the result of a call. The text of pages is untrusted: it is only in Data, between marks.
type Result struct {
	Call
	// Data contains the texts: passages labelled with their numbers, lines with their numbers in front.
	Data []prompts.Data
	// Note contains all other information: that the query was asked before, how many lines are not shown, why
	// there is no result.
	Note string
	// Numbers are the numbers of the passages and lines, Tokens is the length of the new text.
	Numbers []int
	Tokens  int

	found  graphrag.Found
	failed bool // the call could not be executed
}

// Tools executes the calls of an agent for one question. It numbers what it returns, and the same text always
// has the same number. It is safe for concurrent use.
type Tools struct {
	o        ToolOptions
	question graphrag.Question
	perCall  int // most tokens that one call may return

	mu     sync.Mutex
	hits   []graphrag.Hit   // hit number n is hits[n-1]
	number map[string]int   // chunk ID → number
	asked  map[string][]int // key of a call → numbers in its result
	ranked []graphrag.Found // results of the searches
	left   int              // tokens that may still be read
	ahead  int              // turns left, including this one; 0 means unknown
}

// ToolOptions are the sources and limits of [Tools].
type ToolOptions struct {
	// Retriever finds passages for the tool search; nil means that there is no such tool.
	Retriever graphrag.Retriever
	// Pages are the pages for the tools read and find; nil means that there are no such tools.
	Pages *find.Pages
	// Count returns the number of tokens of a text.
	Count func(string) int
	// Tokens is the most tokens read in all; 0 means [DefaultRead]. A call reads at most a quarter of them, and
	// at most the share of a turn in the rest, or 1,200 tokens if that is more.
	Tokens int
}

// usualPassage is the default length of a chunk in tokens. A call may return that much if the budget allows it.
const usualPassage = 1200

// mostLines is the most lines that find returns.
const mostLines = 20

// NewTools returns the tools for a question. Searches use the question's form, K, condition and token budget.
func NewTools(q graphrag.Question, o ToolOptions) (*Tools, error) {
	if o.Retriever == nil && o.Pages == nil {
		return nil, errors.New("agent: tools need a retriever or pages")
	}
	if o.Count == nil {
		return nil, errors.New("agent: Count is missing: want a function that counts tokens")
	}
	if o.Tokens < 0 {
		return nil, fmt.Errorf("agent: Tokens is %d, want 0 or more", o.Tokens)
	}
	tokens := cmp.Or(max(q.Tokens, 0), o.Tokens, DefaultRead)
	return &Tools{o: o, question: q, number: make(map[string]int), asked: make(map[string][]int), left: tokens, perCall: max(tokens/4, 1)}, nil
}

// Names returns the names of the available tools.
func (t *Tools) Names() (names []string) {
	if t.o.Retriever != nil {
		names = append(names, ToolSearch)
	}
	if t.o.Pages != nil {
		names = append(names, ToolRead, ToolFind)
	}
	return append(names, ToolAnswer)
}

// Left returns the number of tokens that may still be read.
func (t *Tools) Left() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left
}

// Do executes calls concurrently and returns their results in order. Its errors are errors of the retriever and
// of ctx; the note of a result describes an invalid call.
func (t *Tools) Do(ctx context.Context, calls ...Call) ([]Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out, fresh := make([]Result, len(calls)), make([]bool, len(calls))
	limit := min(t.perCall, t.left, max(t.left/max(t.ahead-1, 1), usualPassage))
	g, gctx := errgroup.WithContext(ctx)
	for i, c := range calls {
		out[i].Call = tidy(c)
		if _, ok := t.asked[out[i].key()]; ok {
			continue
		}
		fresh[i], t.asked[out[i].key()] = true, nil
		g.Go(func() error {
			_, err := trace.Do(gctx, "tool", func(ctx context.Context) (struct{}, error) { return struct{}{}, t.look(ctx, &out[i], limit) })
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i := range out {
		r, key := &out[i], out[i].key()
		switch {
		case !fresh[i]:
			r.Numbers = t.asked[key]
			r.Note = "this was asked before; see " + numbered(r.Numbers)
		case r.failed:
			delete(t.asked, key)
		default:
			t.take(r, min(limit, t.left))
			t.asked[key] = r.Numbers
		}
	}
	return out, nil
}

// tidy cleans and shortens the arguments that a model wrote.
func tidy(c Call) Call {
	c.Tool, c.Query, c.Source, c.Pattern = fold(c.Tool), clip(oneLine(c.Query)), clip(clean(c.Source)), clean(c.Pattern)
	return c
}

// key returns a key that is equal for calls with the same subject.
func (c Call) key() string {
	if c.Tool == ToolSearch {
		return c.Tool + " " + fold(c.Query)
	}
	return c.Tool + " " + c.about()
}

// look executes a call: it sets the passages and the note of its result.
func (t *Tools) look(ctx context.Context, r *Result, limit int) error {
	fail := func(format string, a ...any) error {
		r.Note, r.failed = fmt.Sprintf(format, a...), true
		return ctx.Err()
	}
	add := func(c graphrag.Chunk, line int) {
		r.found.Evidence = append(r.found.Evidence, graphrag.Hit{Chunk: c, Source: r.Tool, Score: float64(line)})
	}
	names := t.Names()
	switch {
	case !slices.Contains(names, r.Tool) || r.Tool == ToolAnswer:
		return fail("there is no tool %.40q: there are %s", r.Tool, strings.Join(names, ", "))
	case limit <= 0:
		return fail("nothing more can be read: the budget is spent")
	case r.Tool == ToolSearch && fold(r.Query) == "":
		return fail(`the query is empty: "query" says what to search for`)
	case r.Tool == ToolSearch:
		q := t.question
		q.Text, q.Tokens = r.Query, limit
		found, err := t.o.Retriever.Retrieve(ctx, q)
		if err != nil {
			return fmt.Errorf("agent: search for %.80q: %w", r.Query, err)
		}
		r.found = found
		r.found.Evidence = found.Read(q)
		if q.K > 0 { // at most K passages, even if more would fit
			r.found.Evidence = r.found.Evidence[:min(q.K, len(r.found.Evidence))]
		}
	case r.Tool == ToolRead:
		chunks, n, err := t.o.Pages.Read(r.Source, r.From)
		if err != nil {
			return fail("%v: \"source\" is the name of a page as results have it", err)
		}
		for _, c := range chunks {
			add(c, 0)
		}
		r.Note = fmt.Sprintf("the page has the passages 0 to %d", n-1)
	default:
		lines, err := t.o.Pages.Find(ctx, r.Pattern, mostLines)
		if errors.Is(err, find.ErrPattern) {
			return fail("%v", err)
		}
		if err != nil {
			return err
		}
		for _, l := range lines.Lines {
			l.ID = fmt.Sprintf("%s#l%06d", l.Doc, l.Number)
			add(l.Chunk, l.Number)
		}
		r.Note = fmt.Sprintf("%d lines on %d pages match; %d of them are shown", lines.Matching, lines.Pages, len(lines.Lines))
	}
	return nil
}

// take numbers what a call found, up to limit tokens, and notes what was shown before or left out. A passage
// that overlaps one shown before is shown without the overlap.
func (t *Tools) take(r *Result, limit int) {
	var news []graphrag.Hit
	seen := 0 // number of hits that were shown before
	for _, h := range r.found.Evidence {
		n := t.number[h.Chunk.ID]
		for i := 0; n == 0 && i < len(t.hits); i++ {
			if s := t.hits[i].Chunk; within(h.Chunk, s) {
				n = i + 1
			} else if h.Chunk = without(h.Chunk, t.hits[i]); strings.TrimSpace(h.Chunk.Text) == "" {
				n = i + 1
			}
		}
		if n == 0 {
			news = append(news, h)
			continue
		}
		if seen++; !slices.Contains(r.Numbers, n) {
			r.Numbers = append(r.Numbers, n)
		}
	}
	found := len(r.found.Evidence) + len(r.found.Derived)
	news, r.found.Derived = retrieve.Fit(news, r.found.Derived, limit, t.o.Count)
	var lines []string // lines of pages, or facts
	fresh := 0
	for _, h := range news {
		if h.Chunk.Text == "" { // does not fit at all
			continue
		}
		t.hits = append(t.hits, h)
		n, c := len(t.hits), h.Chunk
		t.number[c.ID] = n
		r.Numbers, fresh = append(r.Numbers, n), fresh+1
		r.Tokens += t.o.Count(c.Prompt())
		if h.Source == ToolFind {
			lines = append(lines, fmt.Sprintf("[%d] %s, line %.0f, passage %d: %s", n, oneLine(c.Doc), h.Score, c.Index, oneLine(c.Text)))
			continue
		}
		place := ""
		if t.o.Pages != nil {
			place = fmt.Sprintf(", passage %d", t.o.Pages.At(c.Doc, c.Start))
		}
		text := fmt.Sprintf("Page: %s%s\n%s", oneLine(c.Doc), place, prompts.Printable(c.Prompt()))
		r.Data = append(r.Data, prompts.Data{Label: fmt.Sprintf("passage %d", n), Text: text})
	}
	label := "lines"
	for _, d := range r.found.Derived {
		label, lines = "facts", append(lines, oneLine(d.Text))
		r.Tokens += t.o.Count(d.Text)
	}
	if lines != nil {
		r.Data = append(r.Data, prompts.Data{Label: label, Text: strings.Join(lines, "\n")})
	}
	t.left -= min(t.left, r.Tokens)
	if r.Tool == ToolSearch {
		t.ranked = append(t.ranked, r.found)
	}
	say := func(format string, a ...any) {
		r.Note = strings.TrimPrefix(r.Note+"; "+fmt.Sprintf(format, a...), "; ")
	}
	if found == 0 {
		say("nothing was found")
	}
	if n := len(r.found.Evidence) - seen - fresh; n > 0 {
		say("%d more did not fit", n)
	}
	if len(r.Numbers) > 0 {
		say("see %s", numbered(r.Numbers))
	}
}

// within reports whether a passage of the same page contains the text of c.
func within(c, passage graphrag.Chunk) bool {
	return c.Doc == passage.Doc && (strings.Contains(passage.Text, strings.TrimSpace(c.Text)) || exact(passage) && c.Start < c.End && passage.Start <= c.Start && c.End <= passage.End)
}

// without returns a chunk without the beginning or end that it shares with a passage of the same page.
func without(c graphrag.Chunk, shown graphrag.Hit) graphrag.Chunk {
	passage := shown.Chunk
	switch {
	case shown.Source == ToolFind || c.Doc != passage.Doc || !exact(c) || !exact(passage):
	case passage.Start <= c.Start && c.Start < passage.End && passage.End < c.End:
		c.Text, c.Start = c.Text[passage.End-c.Start:], passage.End
	case c.Start < passage.Start && passage.Start < c.End && c.End <= passage.End:
		c.Text, c.End = c.Text[:passage.Start-c.Start], passage.Start
	}
	return c
}

// exact reports whether the text of a chunk is an unchanged part of its page.
func exact(c graphrag.Chunk) bool { return len(c.Text) == c.End-c.Start }

// numbered returns a list of numbers as text.
func numbered(numbers []int) string {
	if len(numbers) == 0 {
		return "nothing"
	}
	return strings.ReplaceAll(fmt.Sprint(numbers), " ", ", ")
}

// Cited returns the hits with the given numbers, each once; unread are the numbers of no hit.
func (t *Tools) Cited(numbers []int) (hits []graphrag.Hit, unread []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen := make(map[int]bool)
	for _, n := range numbers {
		switch {
		case n < 1 || n > len(t.hits):
			unread = append(unread, n)
		case !seen[n]:
			seen[n] = true
			hits = append(hits, t.hits[n-1])
		}
	}
	return hits, unread
}

// all returns everything that was read. Ranked begins with the cited hits, then come the other hits; Evidence
// is the cited hits, or all hits if none is cited.
func (t *Tools) all(cited []graphrag.Hit) graphrag.Found {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := graphrag.Found{Ranked: []graphrag.Hit{}, Evidence: append([]graphrag.Hit{}, cited...)}
	if len(cited) == 0 {
		out.Evidence = append(out.Evidence, t.hits...)
	}
	all := slices.Clone(out.Evidence)
	out.Evidence = slices.DeleteFunc(out.Evidence, func(h graphrag.Hit) bool { // drop a text that a longer passage contains
		return slices.ContainsFunc(all, func(x graphrag.Hit) bool {
			return len(x.Chunk.Text) > len(h.Chunk.Text) && within(h.Chunk, x.Chunk)
		})
	})
	beside := merge(t.ranked, -1)
	out.Derived, out.Usage = beside.Derived, beside.Usage
	ids, docs := make(map[string]bool), make(map[string]bool)
	for _, list := range [][]graphrag.Hit{cited, t.hits, beside.Ranked} {
		for _, h := range list {
			if ids[h.Chunk.ID] || h.Source == ToolFind && docs[h.Chunk.Doc] || len(out.Ranked) == t.question.Want() {
				continue
			}
			ids[h.Chunk.ID], docs[h.Chunk.Doc] = true, true
			h.Score = 1 / float64(len(out.Ranked)+1)
			out.Ranked = append(out.Ranked, h)
		}
	}
	return out
}

// toolCaller is a model whose replies are converted by uniform.
type toolCaller struct{ llm.Model }

func (c toolCaller) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	reply, err := c.Model.Generate(ctx, req)
	reply.Text = uniform(reply.Text)
	return reply, err
}

// uniform converts the calls in a reply to the form of the prompt. It accepts calls at the top level, several
// objects, and the usual keys of other programs. Other replies stay unchanged.
func uniform(reply string) string {
	rest, _, _ := llm.SplitThinking(reply)
	var move map[string]any
	var calls []any
	for at := strings.IndexByte(rest, '{'); at >= 0; at = strings.IndexByte(rest, '{') {
		d := json.NewDecoder(strings.NewReader(rest[at:]))
		d.UseNumber()
		var object map[string]any
		if d.Decode(&object) != nil {
			break
		}
		rest = rest[at+int(d.InputOffset()):]
		if c := called(object); c != nil {
			calls = append(calls, c)
			continue
		}
		list, _ := object["calls"].([]any)
		for _, x := range list {
			if c := called(x); c != nil {
				x = c
			}
			calls = append(calls, x)
		}
		if move == nil {
			move = object
		}
	}
	if move == nil && calls == nil && reader.IsRefusal("", rest) { // a refusal in plain words
		move, calls = map[string]any{"answer": strings.TrimSpace(rest)}, []any{}
	}
	if calls == nil {
		return reply
	}
	if move == nil {
		move = map[string]any{"thought": ""}
	}
	move["calls"] = calls
	out, err := json.Marshal(move)
	if err != nil {
		return reply
	}
	return string(out)
}

// Keys that other programs use for a call and its arguments.
var (
	toolKeys     = []string{"tool", "tool_name", "name", "function", "function_call", "action"}
	argumentKeys = []string{"arguments", "args", "parameters", "params", "input", "action_input", "tool_input"}
	mainKeys     = map[string]string{ToolSearch: "query", ToolRead: "source", ToolFind: "pattern", ToolAnswer: "answer"}
)

// called returns a call in the form of [Call], nil if the value is no call.
func called(v any) map[string]any {
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for _, k := range toolKeys {
		if inner := called(object[k]); inner != nil {
			return inner
		}
		name, ok := object[k].(string)
		if !ok {
			continue
		}
		if slices.Contains([]string{"final answer", "final_answer", "finish"}, strings.ToLower(name)) {
			name = ToolAnswer
		}
		at := slices.IndexFunc(argumentKeys, func(k string) bool { return object[k] != nil })
		if at < 0 && k != "tool" && mainKeys[fold(name)] == "" {
			continue
		}
		out := maps.Clone(object)
		if at >= 0 {
			maps.Copy(out, arguments(object[argumentKeys[at]], mainKeys[fold(name)]))
		}
		out["tool"] = name
		return out
	}
	return nil
}

// arguments returns the arguments of a call: an object, its JSON as a string, or the main argument alone.
func arguments(v any, main string) (out map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		return v
	case string:
		if json.Unmarshal([]byte(v), &out) == nil && out != nil {
			return out
		}
		return map[string]any{main: v}
	}
	return nil
}
