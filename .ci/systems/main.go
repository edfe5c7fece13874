// SPDX-License-Identifier: Apache-2.0

// Command systems makes the table of systems in docs/systems.md from the Info of each package under
// examples/baselines. Without -write it fails if the document has another table.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
)

const (
	file  = "docs/systems.md"
	begin = "<!-- table recipes -->\n\n"
	end   = "\n<!-- /table -->"
)

func main() {
	write := flag.Bool("write", false, "write the table into the document")
	flag.Parse()
	log.SetFlags(0)
	data, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		log.Fatalf("%s has no part between %q and %q", file, begin, end)
	}
	made := head + begin + table() + end + tail
	switch {
	case made == string(data):
	case !*write:
		log.Fatalf("%s: the table of systems is not the one of their packages: go run ./.ci/systems -write", file)
	default:
		if err := os.WriteFile(file, []byte(made), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// table returns a row for each run of systems with equal sources and costs.
func table() string {
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
