// SPDX-License-Identifier: Apache-2.0

// Command systems makes the tables of systems in README.md and docs/systems.md. Without arguments it fails if
// the table of recipes differs from the Info of the packages under examples/baselines; with -write it writes
// the table. With the reports of two runs it writes the tables of figures:
//
//	go run ./examples/wildgraphbench -data $WILDGRAPHBENCH_DIR -out /tmp/pages
//	go run ./examples/wildgraphbench -data $MUSIQUE_DIR -out /tmp/chains
//	go run ./.ci/systems /tmp/pages/report.csv /tmp/chains/report.csv
//
// A system that is in both reports gets its new figures in its rows; rows are sorted by the first column of
// figures.
package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/internal/display"
)

func main() {
	write := flag.Bool("write", false, "write the table of recipes into the document")
	flag.Parse()
	log.SetFlags(0)
	if err := run(*write, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(write bool, args []string) error {
	switch len(args) {
	case 0:
		return replace("docs/systems.md", "recipes", write, func(string) string { return recipes() })
	case 2:
	default:
		return errors.New("want the report.csv of the six domains and the report.csv of MuSiQue, or no arguments")
	}
	pages, err1 := read(args[0])
	chains, err2 := read(args[1])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	recall := func(f figures, system, kind string) string {
		return percent(f[[2]string{system, kind}]["evidence_recall_at_5"])
	}
	rows := func(cells func(system string) []string) func(string) string {
		return func(table string) string {
			return renewed(table, func(system string) []string {
				if all := [2]string{system, "all"}; pages[all] == nil || chains[all] == nil {
					return nil
				}
				return cells(system)
			})
		}
	}
	return errors.Join(replace("README.md", "readme", true, rows(func(system string) []string {
		return []string{recall(pages, system, "all"), recall(chains, system, "all")}
	})), replace("docs/systems.md", "systems", true, rows(func(system string) []string {
		tokens, _ := strconv.ParseFloat(pages[[2]string{system, "all"}]["context_tokens"], 64)
		return []string{
			recall(pages, system, "all"), recall(pages, system, "single-fact"), recall(pages, system, "multi-fact"), recall(pages, system, "summary"),
			display.Digits(int(tokens + .5)), recall(chains, system, "all"),
		}
	})))
}

// replace replaces a table between its marks in a document; without write it fails if the table would change.
func replace(file, table string, write bool, of func(old string) string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	mark := "<!-- table " + table + " -->\n"
	before, rest, ok := strings.Cut(string(data), mark)
	body, after, ends := strings.Cut(rest, "<!-- /table -->")
	if !ok || !ends {
		return fmt.Errorf("%s has no table %q between its marks", file, table)
	}
	made := before + mark + "\n" + strings.TrimSpace(of(strings.TrimSpace(body))) + "\n\n<!-- /table -->" + after
	if !write && made != string(data) {
		return fmt.Errorf("%s: the table of systems differs from the packages' Info: go run ./.ci/systems -write", file)
	}
	return os.WriteFile(file, []byte(made), 0o644)
}

// recipes returns a row of the table for each group of successive systems with equal sources and costs.
func recipes() string {
	var b strings.Builder
	b.WriteString("| name | source | model calls, beside one to answer |\n|---|---|---|\n")
	names, last, source := "", "", ""
	flush := func() {
		if names != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", names, last)
		}
	}
	for _, s := range all.Systems() {
		of := cmp.Or(strings.TrimSuffix(s.Source+" ("+s.Paper+")", " ()"), "our own")
		shown := of
		if of == source {
			shown = "the same"
		}
		name := "`" + s.Name + "`"
		if len(s.Also) > 0 {
			name += ", also `" + strings.Join(s.Also, "`, `") + "`"
		}
		if rest := " | " + cmp.Or(s.Costs, "none"); last == of+rest || last == "the same"+rest && of == source {
			names += ", " + name
			continue
		}
		flush()
		names, last, source = name, shown+" | "+cmp.Or(s.Costs, "none"), of
	}
	flush()
	return b.String()
}

// figures has the columns of a report by system and type of question, over all domains.
type figures map[[2]string]map[string]string

func read(file string) (figures, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("read the rows of %s: %w", file, cmp.Or(err, errors.New("there are none")))
	}
	out := make(figures)
	for _, row := range rows[1:] {
		of := make(map[string]string)
		for i, name := range rows[0] {
			of[name] = row[i]
		}
		if of["domain"] == "*" {
			out[[2]string{of["system"], of["type"]}] = of
		}
	}
	return out, nil
}

func percent(s string) string {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return "–"
	}
	return strconv.FormatFloat(100*x, 'f', 1, 64)
}

var named = regexp.MustCompile("^\\| `([^`]+)`[^|]*\\|")

// renewed replaces the figures in the rows of a table, and sorts the rows by the first figure.
func renewed(table string, of func(system string) []string) string {
	var head, rows []string
	for line := range strings.SplitSeq(table, "\n") {
		m := named.FindStringSubmatch(line)
		if m == nil {
			head = append(head, line)
			continue
		}
		if cells := of(m[1]); cells != nil {
			line = m[0] + " " + strings.Join(cells, " | ") + " |"
		}
		rows = append(rows, line)
	}
	first := func(row string) float64 {
		x, _ := strconv.ParseFloat(strings.TrimSpace(strings.Split(row, "|")[2]), 64)
		return x
	}
	slices.SortStableFunc(rows, func(a, b string) int { return cmp.Compare(first(b), first(a)) })
	return strings.Join(append(head, rows...), "\n")
}
