// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/internal/display"
)

const dialogueHelp = `Ask a question, and then further ones: "it" and "they" are what was spoken of.
  /sources   the passages that were found for the last question, with their scores
  /history   what was asked
  /new       forget what was asked
  /help      this
  /quit      the end (or Ctrl-D)
`

// dialogue answers questions until the end of the input.
func dialogue(ctx context.Context, d *session.Session, s settings, std streams) error {
	fmt.Fprintln(std.err, `Ask a question; /help says what else there is.`)
	type read struct {
		line string
		err  error
	}
	next, end := lineReader(std.in, std.err)
	defer end()
	lines := make(chan read, 1)
	t := &conversation{d: d, s: s, std: std}
	for {
		go func() { // reading cannot be cancelled, so it runs beside the select
			line, err := next()
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

// conversation is a dialogue with its questions and answers so far.
type conversation struct {
	d               *session.Session
	s               settings
	std             streams
	before, answers []string
	last            session.Reply
}

// turn answers one line, and reports whether it ends the dialogue.
func (t *conversation) turn(ctx context.Context, line string) (end bool) {
	switch line {
	case "":
	case "/quit", "/exit", "/q":
		return true
	case "/help", "/?":
		fmt.Fprint(t.std.out, dialogueHelp)
	case "/history":
		for i, q := range t.before {
			fmt.Fprintf(t.std.out, "%3d  %s\n", i+1, display.OneLine(q))
		}
	case "/new":
		t.before, t.answers, t.last = nil, nil, session.Reply{}
	case "/sources":
		if t.last.Question == "" {
			fmt.Fprintln(t.std.out, "Nothing was asked yet.")
			return false
		}
		writeSources(t.std.out, t.last, true)
	default:
		if strings.HasPrefix(line, "/") && !strings.Contains(line, " ") {
			fmt.Fprintf(t.std.out, "There is no %s; /help lists what there is.\n", display.OneLine(line))
			return false
		}
		if err := t.ask(ctx, line); err != nil {
			fmt.Fprintln(t.std.err, display.Printable(err.Error()))
		}
	}
	return false
}

// ask answers a question and remembers question and answer.
func (t *conversation) ask(ctx context.Context, question string) error {
	const turns = 50 // number of earlier questions that are remembered
	c, note := t.d.Refresh(ctx)
	if c.Any() {
		fmt.Fprintf(t.std.err, "(%d new, %d changed, %d gone)\n", c.Added, c.Changed, c.Deleted)
	}
	if note != "" {
		fmt.Fprintln(t.std.err, note)
	}
	r, err := writeAnswer(ctx, t.d, session.Query{Question: question, Before: t.before, Answers: t.answers}, t.std.out)
	if err != nil {
		return err
	}
	if t.last = r; r.ReadAs != "" {
		fmt.Fprintf(t.std.out, "   (asked as: %s)\n", display.OneLine(r.ReadAs))
	}
	writeSources(t.std.out, r, t.s.verbose)
	answer := r.Answer
	if r.Refused {
		answer = ""
	}
	if t.before, t.answers = append(t.before, question), append(t.answers, answer); len(t.before) > turns {
		t.before, t.answers = t.before[1:], t.answers[1:]
	}
	return nil
}

const prompt = "> "

// lineReader reads lines from a terminal, with cursor and history, or from another input. next waits for a
// line, and returns io.EOF at the end of the input. end restores the terminal, even while next waits.
func lineReader(in io.Reader, out io.Writer) (next func() (string, error), end func()) {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		t := &terminal{fd: int(f.Fd()), t: term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{f, out}, prompt)}
		return t.next, t.end
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxQuestion)
	return func() (string, error) {
		fmt.Fprint(out, prompt)
		if lines.Scan() {
			return lines.Text(), nil
		}
		fmt.Fprintln(out)
		return "", cmp.Or(lines.Err(), io.EOF)
	}, func() {}
}

// terminal is in raw mode only while a line is typed, so that the user can interrupt an answer.
type terminal struct {
	fd int
	t  *term.Terminal

	mu  sync.Mutex
	was *term.State // state before raw mode; nil while no line is typed
}

func (t *terminal) next() (string, error) {
	was, err := term.MakeRaw(t.fd)
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	t.was = was
	t.mu.Unlock()
	defer t.end()
	if width, height, err := term.GetSize(t.fd); err == nil && width > 0 {
		_ = t.t.SetSize(width, height) // an impossible size is ignored
	}
	return t.t.ReadLine()
}

func (t *terminal) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.was != nil {
		_ = term.Restore(t.fd, t.was)
		t.was = nil
	}
}

// writeJSON writes a reply as one line, with its passages if verbose.
func writeJSON(w io.Writer, r session.Reply, verbose bool) error {
	if !verbose {
		r.Passages = nil
	}
	return display.JSON(w).Encode(r)
}

// writeAnswer writes the answer to a question as it is streamed, and returns the complete reply.
func writeAnswer(ctx context.Context, d *session.Session, q session.Query, w io.Writer) (last session.Reply, err error) {
	written := ""
	for last, err = range d.Stream(ctx, q) {
		if err != nil {
			return last, err
		}
		answer := display.Printable(last.Answer)
		if rest, ok := strings.CutPrefix(answer, written); ok {
			fmt.Fprint(w, rest)
		} else {
			fmt.Fprint(w, "\n", answer)
		}
		written = answer
	}
	fmt.Fprintln(w)
	return last, nil
}

// writeSources writes the sources of an answer.
func writeSources(w io.Writer, r session.Reply, verbose bool) {
	for _, s := range r.Sources {
		writeSource(w, s)
	}
	for _, f := range r.Facts {
		fmt.Fprintf(w, "   (%s)\n", display.OneLine(f))
	}
	if r.Uncited {
		fmt.Fprintln(w, "No passage is cited for this.")
	}
	switch len(r.Closest) {
	case 0:
	case 1:
		fmt.Fprintln(w, "The closest passage:")
	default:
		fmt.Fprintln(w, "The closest passages:")
	}
	for _, s := range r.Closest {
		if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			s.Quote = s.Marked("\x1b[1m", "\x1b[22m")
		}
		writeSource(w, s)
	}
	if !verbose {
		return
	}
	if r.Unread > 0 {
		fmt.Fprintf(w, "   (%d of the model's replies, or parts of them, could not be read)\n", r.Unread)
	}
	fmt.Fprintln(w, "Found:")
	for _, p := range r.Passages {
		fmt.Fprintf(w, "  %8.3f  %s:%s  %s\n", p.Score, display.OneLine(p.Path), p.Place, short(p.Text))
	}
}

func writeSource(w io.Writer, s session.Source) {
	fmt.Fprintf(w, "   %s  “%s”\n", display.OneLine(s.At()), s.Quote)
}

// short returns the beginning of a text as one line.
func short(s string) string {
	r := []rune(strings.Join(strings.Fields(display.OneLine(s)), " "))
	if len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return string(r)
}
