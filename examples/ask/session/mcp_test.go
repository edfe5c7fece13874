// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/ask/session/sessiontest"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// client is a client of a server over pipes, and waits for the end of the server.
func client(t *testing.T, system string, args []string, progress ...func(*sdk.ProgressNotificationParams)) (*sdk.ClientSession, func() error) {
	t.Helper()
	return overMCP(t, sessiontest.Open(t, system, args...), progress...)
}

func overMCP(t *testing.T, d *session.Session, progress ...func(*sdk.ProgressNotificationParams)) (*sdk.ClientSession, func() error) {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- session.ServeMCP(t.Context(), d, toServer, fromServer) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			for _, tell := range progress {
				tell(r.Params)
			}
		},
	})
	s := check.Of(c.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)).OK(t)
	check.True(t, s.InitializeResult().ServerInfo.Version != "", "the server has no version")
	return s, func() error {
		check.OK(t, s.Close())
		return wait(t, ended)
	}
}

func wait(t *testing.T, ended chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the server goes on")
		return nil
	}
}

// call calls a tool and returns its result.
func call(t *testing.T, s *sdk.ClientSession, tool string, arguments map[string]any, out any) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error()
	}
	if r.IsError {
		text, _ := r.Content[0].(*sdk.TextContent)
		return text.Text
	}
	data, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	check.OK(t, err)
	return ""
}

func TestTools(t *testing.T) {
	s, end := client(t, "hipporag2", nil)
	list, err := s.ListTools(t.Context(), nil)
	check.Must(t, err == nil && len(list.Tools) == 6, "%+v, %v", list, err)
	for _, tool := range list.Tools {
		check.True(t, tool.Description != "" && tool.Annotations.ReadOnlyHint, "%+v", tool)
	}
	var found struct{ Passages []session.Passage }
	if problem := call(t, s, "search", map[string]any{"query": "barn owl mouse", "k": 1}, &found); problem != "" || len(found.Passages) != 1 || !strings.HasSuffix(found.Passages[0].Path, "owl.md") || found.Passages[0].Score == 0 {
		t.Errorf("search: %s %+v", problem, found)
	}
	var r session.Reply
	if problem := call(t, s, "ask", map[string]any{"question": "What does the barn owl hear?"}, &r); problem != "" || r.Refused || len(r.Sources) != 1 || r.Sources[0].Place != "5" || r.Confidence < .5 {
		t.Errorf("ask: %s %+v", problem, r)
	}
	problem := call(t, s, "ask", map[string]any{"question": "Who is the mayor of Reykjavik?"}, &r)
	check.True(t, problem == "" && r.Refused, "ask: %s %+v", problem, r)
	for tool, arguments := range map[string]map[string]any{
		"ask": {"question": "What does the barn owl hear?"}, "search": {"query": "owl"}, "neighbours": {"name": "Charles Babbage"},
	} {
		arguments["where"] = `knid = "md"`
		problem := call(t, s, tool, arguments, new(any))
		check.Contains(t, problem, "no document has the field", "%s", tool)
		arguments["where"] = "kind"
		problem = call(t, s, tool, arguments, new(any))
		check.Contains(t, problem, "no comparison follows", "%s", tool)
	}
	problem = call(t, s, "ask", map[string]any{"question": "What does the barn owl hear?", "where": `kind = "csv"`}, &r)
	check.True(t, problem == "" && r.Refused, "ask where: %s %+v", problem, r)
	var lines struct {
		Lines           []session.Passage
		Matching, Files int
	}
	if problem := call(t, s, "find", map[string]any{"pattern": "barn owl"}, &lines); problem != "" || len(lines.Lines) == 0 || lines.Matching < len(lines.Lines) || !strings.HasSuffix(lines.Lines[0].Path, "owl.md") {
		t.Errorf("find: %s %+v", problem, lines)
	}
	var passage struct{ Passages []session.Passage }
	at := map[string]any{"path": lines.Lines[0].Path, "from": lines.Lines[0].From}
	problem = call(t, s, "read", at, &passage)
	check.True(t, problem == "" && len(passage.Passages) == 1 && strings.Contains(passage.Passages[0].Text, "mouse"), "read: %s %+v", problem, passage)
	var said struct {
		Answer string
		Cited  []session.Passage
		Unread []string
	}
	if problem := call(t, s, "answer", map[string]any{"answer": "A mouse.", "cited": []any{at, map[string]any{"path": "../secret"}}}, &said); problem != "" || len(said.Cited) != 1 || !slices.Equal(said.Unread, []string{"../secret"}) || said.Answer != "A mouse." {
		t.Errorf("answer: %s %+v", problem, said)
	}
	problem = call(t, s, "find", map[string]any{"pattern": "barn owl", "where": `kind = "csv"`}, &lines)
	check.True(t, problem == "" && len(lines.Lines) == 0, "find where: %s %+v", problem, lines)
	at["where"] = `kind = "csv"`
	problem = call(t, s, "read", at, &passage)
	check.Contains(t, problem, "is not a file of the folder", "read where")
	var n session.Neighbourhood
	problem = call(t, s, "neighbours", map[string]any{"name": "Charles Babbage"}, &n)
	check.True(t, problem == "" && len(n.Facts) != 0, "neighbours: %s %+v", problem, n)
	for _, row := range append(check.Rows(t, "testdata/tools.txt"),
		[]string{"search", "query", strings.Repeat("x", 10_000), "at most 8192"},
		[]string{"ask", "question", strings.Repeat("é", 4097), "at most 8192"},
	) {
		tool, argument, value, want := row[0], row[1], row[2], row[3]
		check.Contains(t, call(t, s, tool, map[string]any{argument: value}, nil), want, "%s %s", tool, argument)
	}
	// Numbers beyond all bounds, and sequences of earlier questions that make no sense, do no harm.
	for _, arguments := range []map[string]any{{"query": "owl", "k": 1 << 40}, {"query": "owl", "k": -1}} {
		problem := call(t, s, "search", arguments, &found)
		check.True(t, problem == "" && len(found.Passages) != 0, "%v: %s, %+v", arguments, problem, found)
	}
	for _, arguments := range []map[string]any{{"query": "owl", "k": 1.5}, {"query": "owl", "k": "5"}, {"query": nil}, {"query": []string{"owl"}}} {
		check.True(t, call(t, s, "search", arguments, &found) != "", "%v is taken", arguments)
	}
	check.Equal(t, call(t, s, "ask", map[string]any{"question": "And it?", "before": slices.Repeat([]string{"it", ""}, 5000)}, &r), "", "a long dialogue")
	err = end()
	check.True(t, err == nil, "the end: %v", err)
}

// A client that asks for progress gets the answer as far as it is written.
func TestProgress(t *testing.T) {
	told := make(chan *sdk.ProgressNotificationParams, 9)
	s, end := client(t, "wild", nil, func(p *sdk.ProgressNotificationParams) { told <- p })
	for _, token := range []any{nil, "t"} {
		params := &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "What does the barn owl hear?"}}
		if token != nil {
			params.SetProgressToken(token)
		}
		r, err := s.CallTool(t.Context(), params)
		check.Must(t, err == nil && !r.IsError, "%+v, %v", r, err)
	}
	p := <-told
	check.True(t, p.ProgressToken == "t" && strings.HasPrefix(p.Message, "The barn owl") && p.Progress == float64(len(p.Message)), "%+v", p)
	check.OK(t, end(), "the end")
}

// A client gets the beginning of an answer while the model is still writing.
func TestToolAnswerComesWhileItIsWritten(t *testing.T) {
	shown := make(chan struct{})
	sessiontest.SlowModel(t, shown)
	var first string
	s, end := client(t, "wild", []string{"-model", "fake"}, func(p *sdk.ProgressNotificationParams) {
		if first == "" {
			first = p.Message
			close(shown)
		}
	})
	call(t, s, "ask", map[string]any{"question": "Who hears mice?"}, new(any))
	params := &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "What does the barn owl hear?"}}
	params.SetProgressToken("t")
	r, err := s.CallTool(t.Context(), params)
	check.Must(t, err == nil && !r.IsError, "%+v, %v", r, err)
	if text := r.Content[0].(*sdk.TextContent).Text; first != strings.TrimSpace(sessiontest.Beginning) || !strings.Contains(text, sessiontest.Beginning+"below the snow.") {
		t.Errorf("%q, then %q", first, text)
	}
	err = end()
	check.True(t, err == nil, "the end: %v", err)
}

func TestWithoutGraph(t *testing.T) {
	s, end := client(t, "wild", nil)
	check.Contains(t, call(t, s, "neighbours", map[string]any{"name": "Ada Lovelace"}, nil), "has no graph")
	check.OK(t, end(), "the end")
}

// Whatever a client sends, the server ends when the client does, and uses bounded memory.
func TestBrokenClients(t *testing.T) {
	d := sessiontest.Open(t, "wild")
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for name, sent := range map[string]string{
		"nothing":            "",
		"garbage":            "\x00\xff not JSON\n{]\n",
		"half a message":     hello + `{"jsonrpc":"2.0","id":2,"method":"tools/ca`,
		"leaves in a call":   hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"question":"What does the owl hear?"}}}` + "\n",
		"a call before all":  `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"question":"What?"}}}` + "\n",
		"a deep message":     hello + strings.Repeat("[", 100_000) + "\n",
		"unknown method":     hello + `{"jsonrpc":"2.0","id":2,"method":"rm"}` + "\n",
		"arguments as array": hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":[1]}}` + "\n",
	} {
		ended := make(chan error, 1)
		var out bytes.Buffer
		go func() { ended <- session.ServeMCP(t.Context(), d, strings.NewReader(sent), &out) }()
		err := wait(t, ended)
		t.Logf("%s: %v, %d bytes", name, err, out.Len())
	}
	// The server gives up a line without an end after its first megabyte.
	ended := make(chan error, 1)
	endless := &endless{}
	go func() { ended <- session.ServeMCP(t.Context(), d, endless, io.Discard) }()
	err := wait(t, ended)
	check.True(t, err != nil && endless.read <= 4<<20, "%v after %d bytes", err, endless.read)
	// A server that is told to end does so even if its client is silent.
	ctx, cancel := context.WithCancel(t.Context())
	silent, hold := io.Pipe()
	defer hold.Close()
	go func() { ended <- session.ServeMCP(ctx, d, silent, io.Discard) }()
	cancel()
	err = wait(t, ended)
	check.True(t, err == nil, "told to end: %v", err)
}

// endless is an input of one line that never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

// Nothing outside of the folder is read or found, even by a link or a path that leads out of it, to a file or a
// folder.
func TestLinksOut(t *testing.T) {
	outside := t.TempDir()
	check.OK(t, os.WriteFile(filepath.Join(outside, "secret.md"), []byte("The passphrase is swordfish.\n"), 0o600))
	d := sessiontest.OpenFiles(t, map[string]string{"owl.md": "The barn owl hears a mouse.\n"}, "bm25")
	for name, target := range map[string]string{"link.md": filepath.Join(outside, "secret.md"), "linked": outside} {
		if err := os.Symlink(target, filepath.Join(d.Docs(), name)); err != nil {
			t.Skip(err)
		}
	}
	s, end := overMCP(t, d)
	var lines struct{ Lines []session.Passage }
	problem := call(t, s, "find", map[string]any{"pattern": "swordfish|owl"}, &lines)
	check.True(t, problem == "" && len(lines.Lines) == 1 && strings.HasSuffix(lines.Lines[0].Path, "owl.md"), "find: %s %+v", problem, lines)
	for _, name := range []string{"link.md", "linked/secret.md", "../" + filepath.Base(outside) + "/secret.md", "./link.md", "owl.md/../link.md"} {
		for _, path := range []string{name, filepath.Join(d.Docs(), name), d.Docs() + "/" + name} {
			check.Contains(t, call(t, s, "read", map[string]any{"path": path}, nil), "is not a file of the folder",
				"read %s", path)
		}
	}
	check.OK(t, end())
}

// defining are files from which suggestions are made, and files that only look like them.
var defining = map[string]string{
	"a.md": "# Router\n\nA router is a box that joins the network of a house to the line. The box is a grey one on the wall. However it is a thing that breaks. Jane Roe is an editor of manuals.\n\n## How is it reset?\n\nHold the button for ten seconds: that resets it.\n\n## Is it loud?\n",
	"b.md": "Ada Lovelace (1815-1852) was an English mathematician. Charles Babbage designed the Analytical Engine. Charles Babbage built its wheels in the end. Abel was the first to go.\n",
	"c.md": "# Wie lange gilt die Garantie?\n\nDie Garantie gilt zwei Jahre ab dem Tag des Kaufs, so lange die Rechnung da ist.\n\nEin Kabel ist ein Leiter mit einer Hülle.\n",
}

func TestSuggestions(t *testing.T) {
	want := []string{"What is a router?", "Who was Ada Lovelace?", "How is it reset?", "Who designed the Analytical Engine?", "Wie lange gilt die Garantie?"}
	d := sessiontest.OpenFiles(t, defining, "wild")
	got, err := d.Suggestions(t.Context())
	check.Must(t, err == nil && len(got) == 4, "%q, %v", got, err)
	for _, q := range got {
		r, err := d.Ask(t.Context(), session.Query{Question: q})
		check.True(t, err == nil && !r.Refused && len(r.Sources) != 0 && slices.Contains(want, q), "%s: %+v, %v", q, r, err)
	}
	again, err := sessiontest.OpenFiles(t, defining, "wild").Suggestions(t.Context())
	check.True(t, err == nil && slices.Equal(got, again), "%q, then %q, %v", got, again, err)
	german := sessiontest.OpenFiles(t, map[string]string{"c.md": defining["c.md"]}, "wild")
	got, err = german.Suggestions(t.Context())
	check.True(t, err == nil && slices.Equal(got, want[4:]), "German: %q, %v", got, err)
}

// A caller that leaves does not delay others, and the next one gets the suggestions.
func TestSuggestionsCancelled(t *testing.T) {
	d := sessiontest.OpenFiles(t, defining, "wild")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := d.Suggestions(ctx)
	check.Is(t, err, context.Canceled, "%q", got)
	got, err = d.Suggestions(t.Context())
	check.True(t, err == nil && len(got) != 0, "%q, %v", got, err)
}

// With a model, suggestions are made and checked without asking it.
func TestSuggestionsFree(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(llm.Request) llm.Reply { return llm.Reply{Text: "Yes."} }})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "none")
	for _, system := range []string{"wild", "hipporag2"} {
		d := sessiontest.OpenFiles(t, defining, system, "-model", "m", "-index-kit", "offline")
		before := len(server.Requests())
		got, err := d.Suggestions(t.Context())
		calls := len(server.Requests()) - before
		check.True(t, err == nil && slices.Contains(got, "What is a router?") && calls <= 0, "%s: %q with %d calls, %v", system, got, calls, err)
	}
}

func TestAbout(t *testing.T) {
	d := sessiontest.OpenFiles(t, map[string]string{
		"a.md":  "---\nteam: ops\nyear: 2024\ntags: [x, y]\nlong: " + strings.Repeat("z", 99) + "\n---\nThe owl hears a mouse.\n",
		"b.md":  "---\nteam: law\n---\nThe tower was lit.\n",
		"c.txt": "The tide is high.\n",
	}, "wild")
	about, err := d.About(t.Context(), nil)
	fields := maps.Clone(about["fields"].(map[string]string))
	check.True(t, strings.HasPrefix(fields["modified"], "modified >= 20"), "the time of a file: %q", fields["modified"])
	delete(fields, "modified")
	got, _ := json.Marshal(map[string]any{"files": about["files"], "kinds": about["kinds"], "fields": fields})
	want := `{"fields":{"folder":"folder = \".\"","kind":"kind = \"md\"","long":"","tags":"tags has \"x\"","team":"team = \"ops\"","year":"year \u003e= 2024"},"files":3,"kinds":{"md":2,"txt":1}}`
	check.True(t, err == nil && string(got) == want, "%s, %v", got, err)
	for name, condition := range about["fields"].(map[string]string) {
		if condition == "" {
			continue
		}
		c, err := graphrag.ParseCondition(condition)
		check.True(t, err == nil, "%v %v", name, err)
		some, err := d.About(t.Context(), &c)
		check.True(t, err == nil && some["files"].(int) != 0, "%s: %v, %v", condition, some, err)
	}
	c := graphrag.Equal("taem", "ops")
	check.Fails(t, check.Err(d.About(t.Context(), &c)), `no file has the field "taem"; the fields are folder, kind, long, modified, tags, team, year`,
		"an unknown field")
}

func TestExcerpt(t *testing.T) {
	line := "The tower of the ä-island was lit again.\n"
	long := strings.Repeat(line, 1000)
	d := sessiontest.OpenFiles(t, map[string]string{"long.txt": long, "owl.md": "The barn owl hears a mouse under the snow.\n"}, "wild")
	from := 500 * len(line)
	s, err := d.Excerpt("long.txt", from, from+len(line)-1, nil)
	if err != nil || s.Place != "501" || s.Raw != line[:len(line)-1] || len(s.Before)+len(s.After) > 9000 || len(s.Before) < 3000 ||
		!strings.HasPrefix(s.Before, "…\n"+line) || !strings.HasSuffix(s.After, line+"…") && !strings.HasSuffix(s.After, "\n…") {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = d.Excerpt("long.txt", 0, len(long), nil)
	check.True(t, err == nil && len(s.Raw) <= 4<<10, "%d bytes, %v", len(s.Raw), err)
	if r, err := d.Ask(t.Context(), session.Query{Question: "What does the barn owl hear?"}); err != nil || len(r.Sources) != 1 {
		t.Errorf("%+v, %v", r, err)
	} else if s, err := d.Excerpt(r.Sources[0].File, r.Sources[0].From, r.Sources[0].To, nil); err != nil || strings.TrimSpace(s.Raw) != r.Sources[0].Quote {
		t.Errorf("%+v, %v", s, err)
	}
	tables := graphrag.Equal("kind", "csv")
	for name, err := range map[string]error{
		"above":       second(d.Excerpt("../../etc/passwd", 0, 0, nil)),
		"absolute":    second(d.Excerpt("/etc/passwd", 0, 0, nil)),
		"roundabout":  second(d.Excerpt("./owl.md", 0, 0, nil)),
		"nothing":     second(d.Excerpt("", 0, 0, nil)),
		"a condition": second(d.Excerpt("owl.md", 0, 0, &tables)),
	} {
		check.Contains(t, err.Error(), "not in the index", "%s: %v", name, err)
	}
	for _, at := range [][2]int{{-1, 0}, {2, 1}, {0, 1 << 40}} {
		check.Fails(t, check.Err(d.Excerpt("owl.md", at[0], at[1], nil)), "43 bytes of text", "%d", at)
	}
}

func second(s session.Source, err error) error {
	if err == nil {
		return fmt.Errorf("there is %+v", s)
	}
	return err
}

// Between questions, the passages are encoded that no question has needed yet, and the vectors are stored;
// without Encode nothing is.
func TestIdleTimeEncodes(t *testing.T) {
	const pages, vector = 70, 64 * 4 // bytes of a vector
	dir, model := t.TempDir(), t.TempDir()
	check.OK(t, graphragtest.WriteBERT(model))
	for i := range pages {
		page := fmt.Sprintf("# Owl %d\n\nThe barn owl number %d hears a mouse.\n", i, i)
		check.OK(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", i)), []byte(page), 0o600))
	}
	asked := int64(0) // bytes stored for the questions
	for _, encode := range []bool{false, true} {
		cache := t.TempDir()
		kept := func() int64 {
			files, _ := filepath.Glob(filepath.Join(cache, "*.vectors"))
			check.Must(t, len(files) == 1, "%v", files)
			info := check.Of(os.Stat(files[0])).OK(t)
			return info.Size()
		}
		s, flags := setup.Settings{}, flag.NewFlagSet("session", flag.ContinueOnError)
		s.Declare(flags, io.Discard, "", s.Flags(func(string) string { return "" }, ""))
		check.OK(t, flags.Parse([]string{"-mode", "reject", "-cache", filepath.Join(cache, "replies.journal"), "-embed-model", "file:" + model}))
		problems := s.Complete(flags, all.Names())
		check.Must(t, len(problems) == 0, "%v", problems)
		wild, _ := all.Find("wild")
		sys := check.Of(wild.With("pages.among", "3")).OK(t)
		d, err := session.Open(t.Context(), session.Options{
			Docs: dir, Index: filepath.Join(t.TempDir(), "index"), System: sys, Settings: s, K: 5, Log: cli.NewLogger(t.Output()), Encode: encode,
		})
		check.OK(t, err)
		ask := func() session.Reply {
			return check.Of(d.Ask(t.Context(), session.Query{Question: "What does barn owl number 17 hear?"})).OK(t)
		}
		first := ask()
		end := time.Now().Add(20 * time.Second)
		for encode && kept() < asked+pages/2*vector && time.Now().Before(end) {
			time.Sleep(5 * time.Millisecond)
		}
		if again := ask(); again.Answer != first.Answer || again.Confidence != first.Confidence {
			t.Errorf("encoded: %q (%v), before: %q (%v)", again.Answer, again.Confidence, first.Answer, first.Confidence)
		}
		err = d.Close()
		check.OK(t, err)
		if encode && kept() < asked+pages/2*vector {
			t.Errorf("%d bytes are kept, %d without idle time: want %d vectors of %d bytes more, or near", kept(), asked, pages, vector)
		}
		asked = kept()
	}
}

func TestReply(t *testing.T) {
	d := sessiontest.Open(t, "wild")
	r, err := d.Ask(t.Context(), session.Query{Question: "What does the barn owl hear?"})
	check.Must(t, err == nil && !r.Refused && len(r.Sources) == 1, "%+v, %v", r, err)
	check.Equal(t, r.Sources[0].Place, "5")
	check.True(t, strings.HasSuffix(r.Sources[0].Before, "Some text.\n\n"), "before it stands %q", r.Sources[0].Before)
	check.True(t, r.Confidence >= .5 && len(r.Passages) > 0, "%+v", r)
	_, err = d.Neighbours(t.Context(), "Ada Lovelace", 5, nil)
	check.True(t, errors.Is(err, session.ErrNoGraph) && strings.Contains(err.Error(), "-system"), "without a graph: %v", err)
	found, err := d.Search(t.Context(), "mouse snow", 1, nil)
	check.True(t, err == nil && len(found) == 1 && strings.HasSuffix(found[0].Path, "owl.md"), "%+v, %v", found, err)
}

func TestNeighbours(t *testing.T) {
	d := sessiontest.Open(t, "hipporag2")
	n, err := d.Neighbours(t.Context(), "ada lovelace", 1, nil)
	check.Must(t, err == nil && len(n.Facts) == 1 && n.More > 0, "%+v, %v", n, err)
	check.Equal(t, n.Names, []string{"Ada Lovelace"})
	check.True(t, n.Facts[0].Place == "1" && strings.HasSuffix(n.Facts[0].Path, "ada.md"), "%+v", n.Facts[0])
	_, err = d.Neighbours(t.Context(), "lovel", 5, nil)
	check.True(t, errors.Is(err, session.ErrUnknown) && strings.Contains(err.Error(), "there are Ada Lovelace"), "part of a name: %v", err)
	n, err = d.Around(t.Context(), session.Query{Question: "What did Charles Babbage design, and who is Nobody Known?"}, 9)
	check.True(t, err == nil && len(n.Names) != 0 && n.Names[0] == "Charles Babbage" && len(n.Facts) != 0, "%+v, %v", n, err)
}

// A question, a search, facts and a graph are limited to the files that meet a condition, in addition to the
// session's own condition.
func TestWhere(t *testing.T) {
	d := sessiontest.Open(t, "wild")
	c := check.Of(graphrag.ParseCondition(`kind = "csv"`)).OK(t)
	r, err := d.Ask(t.Context(), session.Query{Question: "What does the barn owl hear in the light?", Where: &c})
	check.True(t, err == nil && r.Refused && len(r.Passages) != 0 && !strings.Contains(fmt.Sprint(r), "owl.md"), "%+v, %v", r, err)
	found, err := d.Search(t.Context(), "owl light", 5, &c)
	check.True(t, err == nil && len(found) != 0 && !strings.Contains(fmt.Sprint(found), "owl.md"), "%+v, %v", found, err)
	d = sessiontest.Open(t, "hipporag2")
	check.Is(t, check.Err(d.Neighbours(t.Context(), "Ada Lovelace", 5, &c)), session.ErrUnknown, "a name of another file")
	n, err := d.Around(t.Context(), session.Query{Question: "Ada Lovelace", Where: &c}, 9)
	check.True(t, err == nil && len(n.Facts) == 0, "%+v, %v", n, err)
	var page strings.Builder
	err = d.WriteGraph(t.Context(), &page, session.Query{Question: "What does the red light mean?", Where: &c})
	check.True(t, err == nil && !strings.Contains(page.String(), "Lovelace"), "a page with names of other files: %v", err)
}
