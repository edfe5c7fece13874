// Command figures writes the tables of systems in README.md and docs/systems.md from the reports of two runs:
//
//	go run ./examples/wildgraphbench -data $WILDGRAPHBENCH_DIR -out /tmp/pages
//	go run ./examples/wildgraphbench -data $MUSIQUE_DIR -out /tmp/chains
//	go run ./.ci/figures /tmp/pages/report.csv /tmp/chains/report.csv
//
// A system that both runs have gets its new figures in its rows; rows are in the order of the first column.
package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/internal/display"
)

// figures are the columns of a report by system and type of question, over all domains.
type figures map[[2]string]map[string]string

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("name report.csv of the six domains and of MuSiQue")
	}
	pages, err := read(args[0])
	if err != nil {
		return err
	}
	chains, err := read(args[1])
	if err != nil {
		return err
	}
	recall := func(f figures, system, kind string) string {
		return percent(f[[2]string{system, kind}]["evidence_recall_at_5"])
	}
	known := func(system string) bool {
		return pages[[2]string{system, "all"}] != nil && chains[[2]string{system, "all"}] != nil
	}
	if err := rewrite("README.md", "readme", func(system string) []string {
		if !known(system) {
			return nil
		}
		return []string{recall(pages, system, "all"), recall(chains, system, "all")}
	}); err != nil {
		return err
	}
	return rewrite("docs/systems.md", "systems", func(system string) []string {
		if !known(system) {
			return nil
		}
		tokens, _ := strconv.ParseFloat(pages[[2]string{system, "all"}]["context_tokens"], 64)
		return []string{
			recall(pages, system, "all"), recall(pages, system, "single-fact"), recall(pages, system, "multi-fact"), recall(pages, system, "summary"),
			display.Digits(int(tokens + .5)), recall(chains, system, "all"),
		}
	})
}

func read(file string) (figures, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s: no rows: %w", file, err)
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

var name = regexp.MustCompile("^\\| `([^`]+)`[^|]*\\|")

// rewrite replaces the figures of the rows between the marks of a table.
func rewrite(file, table string, of func(system string) []string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(data), "<!-- table "+table+" -->\n")
	body, after, ends := strings.Cut(rest, "<!-- /table -->")
	if !ok || !ends {
		return fmt.Errorf("%s has no table %q between its marks", file, table)
	}
	var head, rows []string
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		m := name.FindStringSubmatch(line)
		if m == nil {
			head = append(head, line)
			continue
		}
		if cells := of(m[1]); cells != nil {
			line = m[0] + " " + strings.Join(cells, " | ") + " |"
		}
		rows = append(rows, line)
	}
	slices.SortStableFunc(rows, func(a, b string) int { return cmp.Compare(first(b), first(a)) })
	text := before + "<!-- table " + table + " -->\n\n" + strings.Join(head, "\n") + "\n" + strings.Join(rows, "\n") + "\n\n<!-- /table -->" + after
	return os.WriteFile(file, []byte(text), 0o644)
}

// first returns the first figure of a row.
func first(row string) float64 {
	cells := strings.Split(row, "|")
	x, _ := strconv.ParseFloat(strings.TrimSpace(cells[2]), 64)
	return x
}
