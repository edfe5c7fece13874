// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/ask/session/sessiontest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// client is a client of a server over pipes, as a process has them, and what waits for
// the end of the server.
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

// call calls a tool and reads what it says.
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
		check.Contains(t, problem, "is not compared", "%s", tool)
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
	// Numbers beyond all bounds, and questions before that lead nowhere, do no harm.
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

// A client that asks for progress is told the answer as far as it has come.
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

// A client has the beginning of an answer while the model still writes.
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

// Whatever a client sends, the server ends with it, and within bounds.
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
	// A line that never ends is left after its first megabyte.
	ended := make(chan error, 1)
	endless := &endless{}
	go func() { ended <- session.ServeMCP(t.Context(), d, endless, io.Discard) }()
	err := wait(t, ended)
	check.True(t, err != nil && endless.read <= 4<<20, "%v after %d bytes", err, endless.read)
	// A server that is told to end does so though its client is silent.
	ctx, cancel := context.WithCancel(t.Context())
	silent, hold := io.Pipe()
	defer hold.Close()
	go func() { ended <- session.ServeMCP(ctx, d, silent, io.Discard) }()
	cancel()
	err = wait(t, ended)
	check.True(t, err == nil, "told to end: %v", err)
}

// endless is a line without an end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

// Nothing outside of the folder is read or found, also where a link leads out of it, to a file
// or a folder, or a path does.
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
