// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// prompt stands before what is typed.
const prompt = "> "

// typing is where the lines of a dialogue come from.
type typing interface {
	// next waits for a line; io.EOF is the end.
	next() (string, error)
	// end leaves the terminal as it was, also while next waits.
	end()
}

// typed reads lines: from a terminal with a cursor and what was typed before, under the
// arrow keys; from elsewhere as they are.
func typed(in io.Reader, out io.Writer) typing {
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &terminal{fd: int(f.Fd()), t: term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{f, out}, prompt)}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxQuestion)
	return &plainLines{lines, out}
}

type plainLines struct {
	*bufio.Scanner
	out io.Writer
}

func (p *plainLines) next() (string, error) {
	fmt.Fprint(p.out, prompt)
	if p.Scan() {
		return p.Text(), nil
	}
	fmt.Fprintln(p.out)
	if p.Err() != nil {
		return "", p.Err()
	}
	return "", io.EOF
}

func (p *plainLines) end() {}

// terminal is raw while a line is typed, so that an answer can be stopped.
type terminal struct {
	fd int
	t  *term.Terminal

	mu  sync.Mutex
	was *term.State // nil outside of next
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
		_ = t.t.SetSize(width, height) // of a size that is none, the last one stays
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
