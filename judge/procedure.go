// SPDX-License-Identifier: Apache-2.0

package judge

import "github.com/wildgraph/wildgraph/llm"

// Kind is the basis of verdicts. Figures of different kinds do not compare.
type Kind string

// The kinds of judges.
const (
	KindWords      Kind = "words"      // rules compare words, and miss right answers in other words
	KindExact      Kind = "exact"      // rules compare answers of a fixed form
	KindEntailment Kind = "entailment" // a small model decides whether one text follows from another
	KindModel      Kind = "model"      // a language model decides
	KindOther      Kind = ""           // a judge from outside of the library
)

// Info describes a judge to programs and reports.
type Info struct {
	// Profile names the procedure in flags, folders and reports.
	Profile string
	Kind    Kind
	// Published is true for the procedures by which published figures were judged, with a model.
	Published bool
	// ReadsEvidence is true if cases need [Case].Evidence.
	ReadsEvidence bool
	// Scales show its figures in the units of a publication; nil without.
	Scales *Scales
}

// Scales are a table of figures in the units of a publication, beside a row of its own.
type Scales struct {
	// Row names the published system; Note says what its figures are about.
	Title, Row, Note string
	Columns          []Scale
}

// Scale is a column of [Scales].
type Scale struct {
	// Title includes the range. Score is a key of [FactJudgment].Scores; "" is the verdict.
	Title, Score string
	// Points converts a value in 0..1, or a mean of values.
	Points    func(float64) float64
	Published float64
}

// InfoOf returns the result of the judge's method Info() Info; a judge without it is of [KindOther].
func InfoOf(j Judge) Info {
	if d, ok := j.(interface{ Info() Info }); ok {
		return d.Info()
	}
	return Info{}
}

// Need is the model without which a procedure cannot judge.
type Need string

// The needs of procedures.
const (
	NeedsNothing  Need = ""
	NeedsModel    Need = "model"
	NeedsEntailer Need = "entailer"
)

// Parts are the models that a judge may use; any may be nil.
type Parts struct {
	Options
	Model    llm.Model
	Embedder llm.Embedder
	Entailer Entailer
}

// Procedure makes the judges of a profile. A data set lists its procedures.
type Procedure struct {
	Info
	Need Need
	New  func(Parts) (Judge, error)
}

// Possible reports whether the parts include what the procedure needs.
func (p Procedure) Possible(by Parts) bool {
	return p.Need == NeedsNothing || p.Need == NeedsModel && by.Model != nil || p.Need == NeedsEntailer && by.Entailer != nil
}
