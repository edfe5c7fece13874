// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
)

// Published holds published figures of the same data set. They are shown with a run's figures, marked as
// published, and take part in no comparison.
type Published struct {
	Rows []PublishedRow `json:"rows,omitempty"`
	// Graphs are the rows of its table of graphs: the name of the data, then tokens, nodes, edges, relations,
	// largest and average degree, isolated nodes in percent.
	Graphs [][]string `json:"graphs,omitempty"`
	// Absent gives, by domain and "" for all together, the reason why rows about it are missing.
	Absent map[string]string `json:"absent,omitempty"`
}

// PublishedRow is a row of a published table of results. Figures are fractions; nil is a missing figure.
type PublishedRow struct {
	// System is the name of the system here.
	System string `json:"system"`
	// Source names publication and table.
	Source string `json:"source"`
	// Domain is "" for all of them together.
	Domain string `json:"domain,omitempty"`
	// Questions is the number of its questions.
	Questions int `json:"questions"`
	// Model answered, Judge judged. Mode is open if answers may use the model's own knowledge, reject if not;
	// "" if the publication has no modes.
	Model string `json:"model"`
	Judge string `json:"judge"`
	Mode  string `json:"mode,omitempty"`

	AvgAccuracy *float64 `json:"avg_accuracy,omitempty"`
	SingleFact  *float64 `json:"single_fact_accuracy,omitempty"`
	MultiFact   *float64 `json:"multi_fact_accuracy,omitempty"`
	Recall      *float64 `json:"recall,omitempty"`
	Precision   *float64 `json:"precision,omitempty"`
	// At most one of the two is set: the mean of the questions' F1, or the harmonic mean of mean recall and
	// precision.
	F1MeanOfQuestions *float64 `json:"f1_mean_of_questions,omitempty"`
	F1OfMeans         *float64 `json:"f1_of_means,omitempty"`
	// Note qualifies the row, without full stop.
	Note string `json:"note,omitempty"`
}

// Accuracy returns the accuracy over the questions of one type; nil if it is missing.
func (p PublishedRow) Accuracy(kind string) *float64 {
	return map[string]*float64{"single-fact": p.SingleFact, "multi-fact": p.MultiFact}[kind]
}

// Beside returns the rows that fit a data set: the domain has the row's number of questions, none twice, and
// is not [Domain].Altered; a row about all domains needs this of each. Absent gives the reasons for the
// others. It is nil without any of these.
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

// Withhold removes the rows and records the reason: the run is not comparable.
func (p *Published) Withhold(why string) {
	p.Absent = make(map[string]string)
	for _, row := range p.Rows {
		p.Absent[row.Domain] = why
	}
	p.Rows = nil
}

// other returns why the questions are not the n released ones of a domain of this name; "" if they may be.
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
