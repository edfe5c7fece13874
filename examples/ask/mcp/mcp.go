// SPDX-License-Identifier: Apache-2.0

// Package mcp gives a folder to other programs by the Model Context Protocol: the tools
// search, ask and neighbours.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wildgraph/wildgraph/examples/ask/desk"
)

// Bounds of what a client may send and ask for.
const (
	maxLine    = 1 << 20
	maxText    = 8 << 10
	maxResults = 50
	maxBefore  = 50
	atOnce     = 8
	patience   = 5 * time.Minute
)

// searchInput is what search takes.
type searchInput struct {
	Query string `json:"query" jsonschema:"what to look for: a question or some words"`
	K     int    `json:"k,omitempty" jsonschema:"how many passages, 5 if left out, at most 50"`
}

type searchOutput struct {
	Passages []desk.Passage `json:"passages" jsonschema:"what was found, best first, with file, place and score"`
}

// askInput is what ask takes.
type askInput struct {
	Question string   `json:"question" jsonschema:"the question, in plain words"`
	Before   []string `json:"before,omitempty" jsonschema:"questions asked before, oldest first, that this one may lean on"`
}

// neighboursInput is what neighbours takes.
type neighboursInput struct {
	Name  string `json:"name" jsonschema:"the name of a person, place or thing"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many facts, 20 if left out, at most 50"`
}

// Server is the server over a desk.
func Server(d *desk.Desk) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "wildgraph-ask", Title: "Questions over " + d.Docs()}, &mcp.ServerOptions{
		Instructions: "Searches and answers from the files of one folder. Answers quote files with line numbers; what the folder does not say is refused.",
	})
	t := tools{d, make(chan struct{}, atOnce)}
	readOnly := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	mcp.AddTool(s, &mcp.Tool{Name: "search", Annotations: readOnly, Description: "Finds the passages of the folder that are most like a query, with path, line and score."}, t.search)
	mcp.AddTool(s, &mcp.Tool{Name: "ask", Annotations: readOnly, Description: "Answers a question from the folder, with the quotes that say so, their places, and how sure the answer is. Refuses what the folder does not say, and gives the closest passage."}, t.ask)
	mcp.AddTool(s, &mcp.Tool{Name: "neighbours", Annotations: readOnly, Description: "Lists the facts around a name in the knowledge graph of the folder. Only systems with a graph have one; others say so."}, t.neighbours)
	return s
}

// Run serves one client on a pair of streams until it leaves or ctx ends.
func Run(ctx context.Context, d *desk.Desk, in io.Reader, out io.Writer) error {
	reader := &closer{Reader: in}
	err := Server(d).Run(ctx, &mcp.IOTransport{Reader: reader, Writer: nopCloser{out}, MaxLineLength: maxLine})
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) || ctx.Err() != nil {
		return nil // the client left
	}
	return fmt.Errorf("mcp: %w", err)
}

// closer is a reader that is at its end once it is closed.
type closer struct {
	io.Reader
	once sync.Once
}

func (c *closer) Close() error {
	var err error
	c.once.Do(func() {
		if closable, ok := c.Reader.(io.Closer); ok {
			err = closable.Close()
		}
	})
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// tools are the functions behind the tools. turn bounds how many run at a time.
type tools struct {
	d    *desk.Desk
	turn chan struct{}
}

// begin waits for a turn and brings the index up to date.
func (t tools) begin(ctx context.Context, text string) (context.Context, func(), error) {
	if len(text) > maxText {
		return nil, nil, fmt.Errorf("the text has %d bytes, at most %d are read", len(text), maxText)
	}
	if text == "" {
		return nil, nil, errors.New("the text is empty")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		cancel()
		return nil, nil, ctx.Err()
	}
	if _, err := t.d.Refresh(ctx); err != nil && ctx.Err() != nil {
		<-t.turn
		cancel()
		return nil, nil, err
	}
	return ctx, func() { <-t.turn; cancel() }, nil
}

func (t tools) search(ctx context.Context, _ *mcp.CallToolRequest, in searchInput) (*mcp.CallToolResult, searchOutput, error) {
	out := searchOutput{Passages: []desk.Passage{}}
	ctx, end, err := t.begin(ctx, in.Query)
	if err != nil {
		return nil, out, err
	}
	defer end()
	found, err := t.d.Search(ctx, in.Query, within(in.K, 5))
	out.Passages = append(out.Passages, found...)
	return nil, out, err
}

func (t tools) ask(ctx context.Context, _ *mcp.CallToolRequest, in askInput) (*mcp.CallToolResult, desk.Reply, error) {
	ctx, end, err := t.begin(ctx, in.Question)
	if err != nil {
		return nil, desk.Reply{}, err
	}
	defer end()
	r, err := t.d.Ask(ctx, desk.Query{Question: in.Question, Before: in.Before[max(0, len(in.Before)-maxBefore):]})
	r.Passages = nil
	return nil, r, err
}

func (t tools) neighbours(ctx context.Context, _ *mcp.CallToolRequest, in neighboursInput) (*mcp.CallToolResult, desk.Neighbourhood, error) {
	none := desk.Neighbourhood{Names: []string{}, Facts: []desk.Fact{}}
	_, end, err := t.begin(ctx, in.Name)
	if err != nil {
		return nil, none, err
	}
	defer end()
	n, err := t.d.Neighbours(in.Name, within(in.Limit, 20))
	if err != nil {
		return nil, none, err
	}
	return nil, n, nil
}

// within is a number that was asked for, or the usual one.
func within(n, usual int) int {
	if n <= 0 {
		return usual
	}
	return min(n, maxResults)
}
