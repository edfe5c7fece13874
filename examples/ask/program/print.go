// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/wildgraph/wildgraph/examples/ask/desk"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// writeJSON writes a reply as one line, with its passages if verbose.
func writeJSON(w io.Writer, r desk.Reply, verbose bool) error {
	if !verbose {
		r.Passages = nil
	}
	return text.JSON(w).Encode(r)
}

// writeAnswer writes the answer to a question as it is streamed, and returns the complete reply.
func writeAnswer(ctx context.Context, d *desk.Desk, q desk.Query, w io.Writer) (last desk.Reply, err error) {
	written := ""
	for last, err = range d.Stream(ctx, q) {
		if err != nil {
			return last, err
		}
		answer := text.Printable(last.Answer)
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
func writeSources(w io.Writer, r desk.Reply, verbose bool) {
	for _, s := range r.Sources {
		writeSource(w, s)
	}
	for _, f := range r.Facts {
		fmt.Fprintf(w, "   (%s)\n", text.OneLine(f))
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
		fmt.Fprintf(w, "  %8.3f  %s:%s  %s\n", p.Score, text.OneLine(p.Path), p.Place, short(p.Text))
	}
}

func writeSource(w io.Writer, s desk.Source) {
	fmt.Fprintf(w, "   %s  “%s”\n", text.OneLine(s.At()), s.Quote)
}

// short returns the beginning of a text as one line.
func short(s string) string {
	r := []rune(strings.Join(strings.Fields(text.OneLine(s)), " "))
	if len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return string(r)
}
