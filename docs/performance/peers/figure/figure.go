// Package figure has the figures of comparisons with other programs, as .ci/peers stores them, and functions
// that the measuring programs share.
package figure

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
)

// Figure is one measurement of one program in one round. The first line of a file has Date and Machine only.
type Figure struct {
	Date    string  `json:"date,omitempty"`
	Machine string  `json:"machine,omitempty"`
	Set     string  `json:"set,omitempty"`   // the data, such as "36,521 chunks"
	What    string  `json:"what,omitempty"`  // the quantity, such as "whole question, p99"
	Who     string  `json:"who,omitempty"`   // [Us], or the other program with its version
	Unit    string  `json:"unit,omitempty"`  // such as "µs" or "MB/s"; if it ends in /s, more is better
	Value   float64 `json:"value,omitempty"` // measured value, in Unit
	Round   int     `json:"round,omitempty"`
	// Plain figures, such as a recall or a modularity, are shown without a ratio to other programs.
	Plain bool `json:"plain,omitempty"`
}

// Us is the name of this library in figures.
const Us = "wildgraph"

// Show prints the figure with a quantity and its value. It is plain if the unit is empty.
func (f Figure) Show(what string, value float64, unit string) {
	f.What, f.Value, f.Unit, f.Plain = what, value, unit, unit == ""
	line, _ := json.Marshal(f) // cannot fail for texts and numbers
	fmt.Println(string(line))
}

// Main runs a program with its arguments, and ends it with its error if there is one.
func Main(name string, run func(ctx context.Context, args []string) error) {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Pages returns the pages and the questions of WildGraphBench, which is in a folder.
func Pages(dir string) (pages []graphrag.Document, questions []string, err error) {
	set, err := wildgraph.Load(os.DirFS(dir), benchmark.LoadOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read the pages in %q: %w", dir, err)
	}
	for _, d := range set.Domains {
		for page, err := range d.Documents() {
			if err != nil {
				return nil, nil, err
			}
			pages = append(pages, page)
		}
		for _, q := range d.Items {
			questions = append(questions, q.Question.Text)
		}
	}
	return pages, questions, nil
}
