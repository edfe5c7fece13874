// SPDX-License-Identifier: Apache-2.0

package benchmark

// Published holds figures from a publication about the same data set. They
// stand beside a run's own, marked as what they are, and take part in nothing.
type Published struct {
	Rows   []PublishedRow   `json:"rows,omitempty"`
	Graphs []PublishedGraph `json:"graphs,omitempty"`
}

// PublishedRow is a row of a published table of results. Figures are
// fractions; nil is a figure that is not given.
type PublishedRow struct {
	// System is the name of the system here, Label the one in the publication.
	System string `json:"system"`
	Label  string `json:"label"`
	// Source names publication and table.
	Source string `json:"source"`
	// Domain is "" for all of them together.
	Domain string `json:"domain,omitempty"`
	// Questions is how many it is about, 0 if that is not said.
	Questions int `json:"questions"`
	// Model answered, Judge judged.
	Model string `json:"model"`
	Judge string `json:"judge"`

	AvgAccuracy *float64 `json:"avg_accuracy,omitempty"`
	SingleFact  *float64 `json:"single_fact_accuracy,omitempty"`
	MultiFact   *float64 `json:"multi_fact_accuracy,omitempty"`
	Recall      *float64 `json:"recall,omitempty"`
	Precision   *float64 `json:"precision,omitempty"`
	// One of the two is given: the mean of the questions' F1, or the harmonic
	// mean of mean recall and precision.
	F1MeanOfQuestions *float64 `json:"f1_mean_of_questions,omitempty"`
	F1OfMeans         *float64 `json:"f1_of_means,omitempty"`
	// Note is what a reader must know, without full stop.
	Note string `json:"note,omitempty"`
}

// PublishedGraph is a row of a published table of graphs.
type PublishedGraph struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	// Model is what built it, with which system.
	Model string `json:"model"`
	// Tokens is the size of the corpus, as printed.
	Tokens        string   `json:"tokens"`
	Nodes         int      `json:"nodes"`
	Edges         int      `json:"edges"`
	MaxDegree     int      `json:"max_degree"`
	IsolatedShare *float64 `json:"isolated_share,omitempty"`
}

// Accuracy is the accuracy over the questions of one type; nil where it is not
// given.
func (p PublishedRow) Accuracy(kind string) *float64 {
	return map[string]*float64{"single-fact": p.SingleFact, "multi-fact": p.MultiFact}[kind]
}
