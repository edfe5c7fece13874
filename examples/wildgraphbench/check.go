// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// check prints what is odd in a data set. Findings are no failure; a data set that
// cannot be run is incomplete.
func check(s settings, w io.Writer) error {
	root, err := os.OpenRoot(s.check)
	if err != nil {
		return err
	}
	defer root.Close() // only read
	o := wildgraph.Options{Domains: s.domains}
	findings, err := wildgraph.Check(root.FS(), o)
	if err != nil {
		return fmt.Errorf("%w: the data set cannot be run: %w", lab.ErrIncomplete, err)
	}
	const most = 5
	for _, f := range findings {
		places := strings.Join(f.Places[:min(most, len(f.Places))], ", ")
		if n := len(f.Places); n > most {
			places += fmt.Sprintf(" and %d more", n-most)
		}
		fmt.Fprintf(w, "%d %s\n    %s\n", len(f.Places), f.Kind, text.OneLine(places))
	}
	_, stats, err := wildgraph.Load(root.FS(), o)
	if err != nil {
		return fmt.Errorf("%w: the data set cannot be run:\n%w", lab.ErrIncomplete, err)
	}
	for _, d := range stats {
		fmt.Fprintf(w, "%s: %d pages (%.1f MB), %d questions.\n", text.OneLine(d.Domain), d.Pages, float64(d.Bytes)/1e6, d.Questions())
	}
	_, err = fmt.Fprintf(w, "%d kinds of findings. The data set can be run.\n", len(findings))
	return err
}
