// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// WriteText writes tables aligned for a terminal.
func WriteText(w io.Writer, tables ...Table) error {
	b := bufio.NewWriter(w)
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		writeText(b, t)
	}
	return b.Flush()
}

func writeText(b *bufio.Writer, t Table) {
	columns := t.Columns()
	name := width(t.Heading())
	for _, row := range t.Rows {
		name = max(name, width(row.Name))
	}
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = width(c)
		for _, row := range t.Rows {
			widths[i] = max(widths[i], width(row.Cells[i].Text)+1)
		}
	}
	// A group is at least as wide as its heading.
	at := 0
	sums := make([]int, len(t.Groups))
	for i, g := range t.Groups {
		sums[i] = 3 * (len(g.Columns) - 1)
		for _, w := range widths[at : at+len(g.Columns)] {
			sums[i] += w
		}
		if more := width(g.Heading) - sums[i]; more > 0 {
			widths[at] += more
			sums[i] += more
		}
		at += len(g.Columns)
	}
	fmt.Fprintf(b, "%s\n", text.OneLine(t.Title))
	if len(t.Groups) > 1 {
		fmt.Fprint(b, pad("", -name))
		for i, g := range t.Groups {
			fmt.Fprintf(b, " │ %s", pad(g.Heading, -sums[i]))
		}
		b.WriteByte('\n')
	}
	line := func(name string, cells func(i int) string) {
		b.WriteString(name)
		at := 0
		for _, g := range t.Groups {
			for i := range g.Columns {
				sep := "   "
				if i == 0 {
					sep = " │ "
				}
				b.WriteString(sep + pad(cells(at), widths[at]))
				at++
			}
		}
		b.WriteByte('\n')
	}
	line(pad(t.Heading(), -name), func(i int) string { return columns[i] })
	for _, row := range t.Rows {
		line(pad(text.OneLine(row.Name), -name), func(i int) string {
			if row.Cells[i].Best {
				return row.Cells[i].Text + "*"
			}
			return row.Cells[i].Text + " "
		})
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "  %s\n", text.OneLine(n))
	}
}

func width(s string) int { return utf8.RuneCountInString(s) }

// pad aligns right, or left when n is negative.
func pad(s string, n int) string {
	if n < 0 {
		return s + strings.Repeat(" ", max(0, -n-width(s)))
	}
	return strings.Repeat(" ", max(0, n-width(s))) + s
}
