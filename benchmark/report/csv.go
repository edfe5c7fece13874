// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
)

// WriteCSV writes one row per system, domain and question type; the domain
// "*" is all domains together. The column judge tells lexical figures from a
// model's. Undefined figures are empty.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	header := []string{"system", "domain", "type", "n", "k", "judge"}
	header = append(header, Keys()...)
	if err := out.Write(header); err != nil {
		return err
	}
	var keys []string
	for _, kind := range r.types {
		keys = append(keys, kind.Key)
	}
	keys = append(keys, benchmark.All)
	for _, s := range r.Systems {
		for _, d := range append(slices.Clone(s.Domains), Domain{Domain: "*", Types: s.Overall.Types}) {
			for _, key := range keys {
				if err := out.Write(csvRow(s.System, d.Domain, key, d.Types[key])); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

func csvRow(system, domain, key string, t Type) []string {
	kind := "model"
	switch {
	case t.Lexical != nil:
		kind = "lexical"
	case t.Judged == nil:
		kind = ""
	}
	row := []string{csvText(system), csvText(domain), key, strconv.Itoa(t.N), strconv.Itoa(t.K), kind}
	for _, key := range Keys() {
		text := ""
		if f, ok := t.Figure(key); ok {
			text = strconv.FormatFloat(f, 'f', 6, 64)
		}
		row = append(row, text)
	}
	return row
}

// csvText keeps spreadsheets from taking a text for a formula.
func csvText(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
