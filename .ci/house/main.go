// Command house draws the way of a document and of a question through the packages, as SVG on stdout. It fails
// if a package of the picture does not exist, so that the picture is never out of date.
package main

import (
	"fmt"
	"html"
	"os"
	"strings"
)

// box is a step on a way: a title, and the packages or types that do the work.
type box struct {
	title string
	lines []string
}

// way is a row of boxes, with a word for the result.
type way struct {
	name, end string
	boxes     []box
}

var ways = []way{
	{"a document", "a System", []box{
		{"read", []string{"graphrag/load", "load/office, load/pdf"}},
		{"cut", []string{"graphrag/chunk"}},
		{"extract", []string{"graphrag/extract", "extract/rules"}},
		{"graph", []string{"graphrag/kg", "community, report"}},
		{"index", []string{"graphrag/bm25", "vector, embed"}},
		{"keep", []string{"graphrag/kit", "store, folder"}},
	}},
	{"a question", "a report", []box{
		{"decompose", []string{"graphrag/agent"}},
		{"retrieve", []string{"graphrag/retrieve", "pages, rank"}},
		{"walk", []string{"graphrag/ppr", "graph"}},
		{"answer", []string{"graphrag/reader", "llm"}},
		{"judge", []string{"judge"}},
		{"measure", []string{"benchmark"}},
	}},
}

const (
	left, top           = 120, 24
	width, height       = 132, 74
	across, down        = 158, 104
	font                = `font-family="ui-sans-serif,system-ui,sans-serif"`
	ink, line, fill     = "#24415f", "#7d93a8", "#eef3f8"
	arrow               = `<path d="M%d %dh%d" stroke="` + line + `" stroke-width="1.6" marker-end="url(#to)"/>`
	titled, named, said = 15, 11, 13
)

func main() {
	var out strings.Builder
	tall := 2*top + down + height
	total := left + 6*across + 84
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="The way of a document and of a question through the packages">`, total, tall)
	fmt.Fprintf(&out, `<defs><marker id="to" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto"><path d="M0 0L6 3L0 6z" fill="%s"/></marker></defs>`, line)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", total, tall)
	for i, w := range ways {
		y := top + i*down
		text(&out, 12, y+height/2+5, said, "bold", w.name)
		for j, b := range w.boxes {
			x := left + j*across
			if j > 0 {
				fmt.Fprintf(&out, arrow, x-across+width+3, y+height/2, across-width-8)
			}
			fmt.Fprintf(&out, `<rect x="%d" y="%d" width="%d" height="%d" rx="8" fill="%s" stroke="%s"/>`, x, y, width, height, fill, line)
			text(&out, x+12, y+24, titled, "bold", b.title)
			for k, l := range b.lines {
				check(b.lines[0], l)
				text(&out, x+12, y+44+k*16, named, "normal", l)
			}
			out.WriteByte('\n')
		}
		end := left + 6*across
		fmt.Fprintf(&out, arrow, end-across+width+3, y+height/2, across-width-8)
		text(&out, end, y+height/2+5, said, "bold", w.end)
	}
	out.WriteString("</svg>\n")
	fmt.Print(out.String())
}

func text(out *strings.Builder, x, y, size int, weight, s string) {
	fmt.Fprintf(out, `<text x="%d" y="%d" font-size="%d" font-weight="%s" fill="%s" %s>%s</text>`, x, y, size, weight, ink, font, html.EscapeString(s))
}

// check ends the program if a box names a package that does not exist.
func check(first, names string) {
	for name := range strings.SplitSeq(names, ", ") {
		for _, dir := range []string{name, "graphrag/" + name} {
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				name = ""
			}
		}
		if name != "" {
			fmt.Fprintf(os.Stderr, "house: no package is called %q: change the box that begins with %s\n", name, first)
			os.Exit(1)
		}
	}
}
