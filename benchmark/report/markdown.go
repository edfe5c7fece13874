// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// WriteMarkdown writes the tables of the report as Markdown; the best figure
// of a column is bold, 95 % confidence intervals stand in parentheses.
func (r *Report) WriteMarkdown(w io.Writer) error {
	return writeMarkdown(w, r.heading(), r.summary(), r.Tables())
}

func writeMarkdown(w io.Writer, heading, summary string, tables []Table) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n%s Ranges in parentheses are 95 %% confidence intervals, from %d questions on.\n", markdownText(heading), markdownText(summary), MinQuestions)
	for _, t := range tables {
		fmt.Fprintf(b, "\n## %s\n\n| %s |", markdownText(t.Title), t.Heading())
		for _, g := range t.Groups {
			for _, c := range g.Columns {
				if g.Qualified {
					c = g.Heading + ": " + c
				}
				fmt.Fprintf(b, " %s |", markdownText(c))
			}
		}
		b.WriteString("\n|---|" + strings.Repeat("---:|", len(t.Columns())) + "\n")
		for _, row := range t.Rows {
			fmt.Fprintf(b, "| %s |", markdownText(row.Name))
			for _, c := range row.Cells {
				cell := markdownText(c.Text)
				if c.Best {
					cell = "**" + cell + "**"
				}
				if c.Interval != "" {
					cell += " (" + c.Interval + ")"
				}
				fmt.Fprintf(b, " %s |", cell)
			}
			b.WriteByte('\n')
		}
		for _, n := range t.Notes {
			fmt.Fprintf(b, "\n%s\n", markdownText(n))
		}
	}
	return b.Flush()
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "`", "\\`", "[", `\[`, "\n", " ")

func markdownText(s string) string { return markdownEscapes.Replace(text.OneLine(s)) }
