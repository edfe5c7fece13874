// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
)

// Published holds figures from a publication about the same data set. They are shown beside
// a run's figures, marked as published, and take part in no comparison.
type Published struct {
	Rows []PublishedRow `json:"rows,omitempty"`
	// Graphs are rows of its table of graphs, of these data and of others: the name of the data,
	// then tokens, nodes, edges, relations, largest and average degree, isolated nodes in percent.
	Graphs [][]string `json:"graphs,omitempty"`
	// Absent says, by domain and "" for all together, why rows about it do not stand here.
	Absent map[string]string `json:"absent,omitempty"`
}

// PublishedRow is a row of a published table of results. Figures are
// fractions; nil is a figure that is not given.
type PublishedRow struct {
	// System is the name of the system here.
	System string `json:"system"`
	// Source names publication and table.
	Source string `json:"source"`
	// Domain is "" for all of them together.
	Domain string `json:"domain,omitempty"`
	// Questions is how many it is about.
	Questions int `json:"questions"`
	// Model answered, Judge judged; Mode says whether answers may rest on what the model knows,
	// open, or may not, reject; "" where the publication has no modes.
	Model string `json:"model"`
	Judge string `json:"judge"`
	Mode  string `json:"mode,omitempty"`

	AvgAccuracy *float64 `json:"avg_accuracy,omitempty"`
	SingleFact  *float64 `json:"single_fact_accuracy,omitempty"`
	MultiFact   *float64 `json:"multi_fact_accuracy,omitempty"`
	Recall      *float64 `json:"recall,omitempty"`
	Precision   *float64 `json:"precision,omitempty"`
	// At most one of the two is given: the mean of the questions' F1, or the harmonic
	// mean of mean recall and precision.
	F1MeanOfQuestions *float64 `json:"f1_mean_of_questions,omitempty"`
	F1OfMeans         *float64 `json:"f1_of_means,omitempty"`
	// Note qualifies the row, without full stop.
	Note string `json:"note,omitempty"`
}

// Accuracy is the accuracy over the questions of one type; nil where it is not
// given.
func (p PublishedRow) Accuracy(kind string) *float64 {
	return map[string]*float64{"single-fact": p.SingleFact, "multi-fact": p.MultiFact}[kind]
}

// Beside returns the rows about these data: the domain has as many questions as a row is
// about, none twice, and is not [Domain].Altered; a row about all domains needs this of each.
// Absent says why others are not returned. It is nil without any of these.
func (p *Published) Beside(d *Dataset) *Published {
	if p == nil {
		return nil
	}
	about := make(map[string]int)
	for _, row := range p.Rows {
		about[row.Domain] = row.Questions
	}
	out := &Published{Graphs: p.Graphs, Absent: make(map[string]string)}
	present, total, others := map[string]bool{"": true}, 0, ""
	for _, domain := range d.Domains {
		total += len(domain.Items)
		present[domain.Name] = true
		n, known := about[domain.Name]
		why := p.Absent[domain.Name]
		if known {
			why = domain.other(n)
		}
		if why != "" {
			out.Absent[domain.Name] = why
		}
		if why != "" || !known {
			others = ", not all of them released ones"
		}
	}
	if n, known := about[""]; known && (total != n || others != "") {
		out.Absent[""] = fmt.Sprintf("they are about all %d questions of the release, these are %d%s", n, total, others)
	} else if why, absent := p.Absent[""]; absent {
		out.Absent[""] = why
	}
	for _, row := range p.Rows {
		if _, absent := out.Absent[row.Domain]; present[row.Domain] && !absent {
			out.Rows = append(out.Rows, row)
		}
	}
	if len(out.Rows)+len(out.Absent)+len(out.Graphs) == 0 {
		return nil
	}
	return out
}

// Withhold takes the rows away, and says why: the run is another one than theirs.
func (p *Published) Withhold(why string) {
	p.Absent = make(map[string]string)
	for _, row := range p.Rows {
		p.Absent[row.Domain] = why
	}
	p.Rows = nil
}

// other says why the questions are not the n released ones of a domain of this name; "" where
// they may be.
func (d Domain) other(n int) string {
	distinct := make(map[string]bool)
	for _, it := range d.Items {
		distinct[it.Question.Text+"\x00"+it.Reference] = true
	}
	switch {
	case d.Altered != "":
		return fmt.Sprintf("they are about %d released questions of %s, and %s", n, d.Name, d.Altered)
	case len(d.Items) != n:
		return fmt.Sprintf("they are about %d questions, this run asks %d", n, len(d.Items))
	case len(distinct) != n:
		return fmt.Sprintf("they are about %d questions, of these %d repeat an earlier one", n, n-len(distinct))
	}
	return ""
}
