// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	_ "embed"
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/report"
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

// Published are the accuracies of arXiv 2508.19855, Tables 1 to 3.
func Published() []report.PublishedAccuracy {
	rows, err := csv.NewReader(strings.NewReader(publishedCSV)).ReadAll()
	if err != nil {
		panic(err) // it is part of the program
	}
	var out []report.PublishedAccuracy
	for _, row := range rows[1:] { // below the headings
		k, _ := strconv.Atoi(row[1]) // as above
		for i := 5; i < len(row); i++ {
			if row[i] == "" {
				continue
			}
			percent, _ := strconv.ParseFloat(row[i], 64)
			set, mode, _ := strings.Cut(rows[0][i], " ")
			out = append(out, report.PublishedAccuracy{
				Source: paper + ", Table " + row[0], Model: row[2], Judge: paperJudge, TopK: k, System: row[3], Label: row[4],
				Set: set, Mode: mode, Accuracy: percent / 100, Ablation: row[0] == "3",
			})
		}
	}
	return out
}
