// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	_ "embed"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
)

// paper is where the published figures are from, paperJudge what judged there.
const (
	paper      = "arXiv 2508.19855"
	paperJudge = "DeepSeek-V3-0324"
)

// publishedCSV holds Tables 1 to 3 in percent as they are printed. The table of
// variants gives one mode of each data set. The paper's GraphRAG-Bench is the one of
// textbooks; which of Microsoft GraphRAG's searches its GraphRAG is it does not say.
//
//go:embed published.csv
var publishedCSV string

// Published are the accuracies of arXiv 2508.19855, Tables 1 to 3, with k chunks in a
// prompt and in a mode, open or reject.
func Published(k int, mode string) *benchmark.Published {
	rows, err := csv.NewReader(strings.NewReader(publishedCSV)).ReadAll()
	if err != nil {
		panic(err) // it is part of the program
	}
	out := &benchmark.Published{}
	for _, row := range rows[1:] { // below the headings
		for i := 5; i < len(row); i++ {
			set, in, _ := strings.Cut(rows[0][i], " ")
			percent, err := strconv.ParseFloat(row[i], 64)
			if err != nil || in != mode || row[1] != strconv.Itoa(k) || row[0] == "3" && has(out, row[3], set) {
				continue // no figure, of another run, or given in Table 1 as well
			}
			accuracy := percent / 100
			out.Rows = append(out.Rows, benchmark.PublishedRow{
				Source: paper + ", Table " + row[0], Model: row[2], Judge: paperJudge, System: row[3], Label: row[4],
				Domain: set, AvgAccuracy: &accuracy,
			})
		}
	}
	return out
}

func has(p *benchmark.Published, system, set string) bool {
	return slices.ContainsFunc(p.Rows, func(r benchmark.PublishedRow) bool { return r.System == system && r.Domain == set })
}
