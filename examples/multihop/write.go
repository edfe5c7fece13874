// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/report"
)

// liveRAGFile holds the table, in the report folder.
const liveRAGFile = "liverag.txt"

// writeLiveRAG prints the figures of all systems on the scales of the challenge.
func writeLiveRAG(w io.Writer, s settings, grid *report.Grid) error {
	var tables []report.Table
	for _, t := range grid.Trials {
		table, err := liveRAGTable(t.Run, s.Seed)
		if err != nil {
			return err
		}
		table.Title += ", " + label(s, t, false)
		tables = append(tables, table)
	}
	return writeTables(w, s.Out, liveRAGFile, tables)
}

// writeTables prints tables and keeps them in a file of the folder.
func writeTables(w io.Writer, dir, file string, tables []report.Table) error {
	var b strings.Builder
	if err := report.WriteText(&b, tables...); err != nil {
		return err
	}
	name := filepath.Join(dir, file)
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%sTables: %s\n", b.String(), name)
	return err
}

// label says what answered.
func label(s settings, t report.Trial, modelled bool) string {
	switch {
	case s.Paid():
		return strings.Join(slices.DeleteFunc([]string{t.Model, t.Mode}, func(s string) bool { return s == "" }), ", ")
	case modelled:
		return "offline (models that are asked nothing)"
	}
	return "offline"
}
