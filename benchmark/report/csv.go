// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// WriteCSV writes one row per system, domain and question type; the domain
// "*" is all domains together, and one of that name "'*". The column judge tells lexical figures from a
// model's. Undefined figures are empty.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	header := []string{"system", "domain", "type", "n", "k", "judge"}
	figures := append(Keys(), r.scoreNames(func(s System) Type { return s.Overall.Types[benchmark.All] })...)
	header = append(append(header, figures...), "answered_right", "answered_wrong", "refused_rightly", "refused_wrongly")
	if err := out.Write(header); err != nil {
		return err
	}
	var keys []string
	for _, kind := range r.types {
		keys = append(keys, kind.Key)
	}
	keys = append(keys, benchmark.All)
	for _, s := range r.Systems {
		for _, d := range append(slices.Clone(s.Domains), Domain{Types: s.Overall.Types}) {
			for _, key := range keys {
				if err := out.Write(csvRow(s.System, cmp.Or(csvText(d.Domain), allDomains), key, d.Types[key], figures)); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

// allDomains stands for the domains together.
const allDomains = "*"

func csvRow(system, domain, key string, t Type, figures []string) []string {
	kind := "model"
	switch {
	case t.Lexical != nil:
		kind = "lexical"
	case t.Judged == nil:
		kind = ""
	}
	row := []string{csvText(system), domain, key, strconv.Itoa(t.N), strconv.Itoa(t.K), kind}
	for _, key := range figures {
		value := ""
		if f, ok := t.Figure(key); ok {
			value = strconv.FormatFloat(f, 'f', 6, 64)
		}
		row = append(row, value)
	}
	v := t.Verdicts()
	if v == nil {
		return append(row, "", "", "", "")
	}
	for _, n := range []int{v.Refusals.AnsweredRight, v.Refusals.AnsweredWrong, v.Refusals.RefusedRightly, v.Refusals.RefusedWrongly} {
		row = append(row, strconv.Itoa(n))
	}
	return row
}

// csvText keeps spreadsheets from taking a text for a formula.
func csvText(s string) string {
	if s != "" && (s == allDomains || strings.ContainsRune("=+-@'\t\r", rune(s[0]))) {
		return "'" + text.OneLine(s)
	}
	return text.OneLine(s)
}
