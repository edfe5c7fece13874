// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

func ExampleOptions_Folder() {
	folder := fstest.MapFS{
		"lights.html": {Data: []byte("<title>Lights</title>\n<table><tr><th>Light<th>Meaning\n<tr><td>red<td>no internet</table>")},
		"scan.pdf":    {Data: []byte("%PDF")},
	}
	files, skipped, err := load.Options{}.Folder(context.Background(), folder)
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		fmt.Printf("%s\n%s", f.Document.Title, f.Document.Text)
		for _, b := range f.Blocks() {
			if b.Kind == load.Row {
				header := f.Blocks()[b.Lead]
				fmt.Printf("line %d: %s is %s, %s is %s\n", f.Line(b.Start), header.Cell(0), b.Cell(0), header.Cell(1), b.Cell(1))
			}
		}
	}
	fmt.Println(skipped[0])
	// Output:
	// Lights
	// | Light | Meaning |
	// |---|---|
	// | red | no internet |
	// line 3: Light is red, Meaning is no internet
	// load: 1 file: another kind of file (.pdf): read it with the Reader of package load/pdf
}

// A piece that begins in the middle of a table is read with its lead.
func ExampleLead() {
	page := "# Moons\n\n| Moon | Planet |\n|---|---|\n| Titan | Saturn |\n| Triton | Neptune |\n"
	cut := len(page) - len("Triton | Neptune |\n")
	lead := load.Lead(page, cut)
	for _, b := range load.Blocks(lead + page[cut:]) {
		fmt.Println(b.Kind == load.Row, b.Text)
	}
	// Output:
	// false Moons
	// false Moon | Planet
	// true Triton | Neptune
}

func ExampleBlock_Span() {
	page := "- Ada\n  Lovelace\n- Grace Hopper\n"
	b := load.Blocks(page)[0]
	p := b.Span(text.Span{Start: 0, End: len(b.Text)})
	fmt.Printf("%q is %q\n", load.Plain(b.Text), page[p.Start:p.End])
	// Output:
	// "Ada Lovelace" is "Ada\n  Lovelace"
}
