// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wildgraph/wildgraph/examples/ask/desk"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

const dialogueHelp = `Ask a question, and then further ones: "it" and "they" are what was spoken of.
  /sources   the passages that were found for the last question, with their scores
  /history   what was asked
  /new       forget what was asked
  /help      this
  /quit      the end (or Ctrl-D)
`

// turns is how many questions a dialogue remembers.
const turns = 50

// dialogue answers what is typed until the end of the input.
func dialogue(ctx context.Context, d *desk.Desk, s settings, std streams) error {
	fmt.Fprintln(std.err, `Ask a question; /help says what else there is.`)
	type read struct {
		line string
		err  error
	}
	from := typed(std.in, std.err)
	defer from.end()
	lines := make(chan read, 1)
	t := &talk{d: d, s: s, std: std}
	for {
		go func() { // a read cannot be cancelled
			line, err := from.next()
			lines <- read{line, err}
		}()
		select {
		case <-ctx.Done():
			return nil
		case r := <-lines:
			if errors.Is(r.err, io.EOF) {
				return nil
			}
			if r.err != nil || t.turn(ctx, strings.TrimSpace(r.line)) {
				return r.err
			}
		}
	}
}

// talk is what was said so far.
type talk struct {
	d      *desk.Desk
	s      settings
	std    streams
	before []string
	last   desk.Reply
}

// turn answers one line, and tells whether it was the last.
func (t *talk) turn(ctx context.Context, line string) (end bool) {
	switch line {
	case "":
	case "/quit", "/exit", "/q":
		return true
	case "/help", "/?":
		fmt.Fprint(t.std.out, dialogueHelp)
	case "/history":
		for i, q := range t.before {
			fmt.Fprintf(t.std.out, "%3d  %s\n", i+1, text.OneLine(q))
		}
	case "/new":
		t.before, t.last = nil, desk.Reply{}
	case "/sources":
		if t.last.Question == "" {
			fmt.Fprintln(t.std.out, "Nothing was asked yet.")
			return false
		}
		writeSources(t.std.out, t.last, true)
	default:
		if strings.HasPrefix(line, "/") && !strings.Contains(line, " ") {
			fmt.Fprintf(t.std.out, "There is no %s; /help lists what there is.\n", text.OneLine(line))
			return false
		}
		if err := t.ask(ctx, line); err != nil {
			fmt.Fprintln(t.std.err, text.Printable(err.Error()))
		}
	}
	return false
}

// ask answers a question, as it is written by a model that streams.
func (t *talk) ask(ctx context.Context, question string) error {
	c, note := t.d.Refresh(ctx)
	if c.Any() {
		fmt.Fprintf(t.std.err, "(%d new, %d changed, %d gone)\n", c.Added, c.Changed, c.Deleted)
	}
	if note != "" {
		fmt.Fprintln(t.std.err, note)
	}
	r, err := writeAnswer(ctx, t.d, desk.Query{Question: question, Before: t.before}, t.std.out)
	if err != nil {
		return err
	}
	t.last = r
	if t.last.ReadAs != "" {
		fmt.Fprintf(t.std.out, "   (asked as: %s)\n", text.OneLine(t.last.ReadAs))
	}
	writeSources(t.std.out, t.last, t.s.verbose)
	if t.before = append(t.before, question); len(t.before) > turns {
		t.before = t.before[1:]
	}
	return nil
}
