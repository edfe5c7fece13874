// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"iter"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Dataset is a benchmark: one or more domains, each with a corpus and
// questions of its own.
type Dataset struct {
	// Name says what it is, e.g. "WildGraphBench".
	Name string
	// Domains are the parts, in report order; every domain is indexed apart.
	Domains []Domain
	// Published are figures from a publication about this data set, to stand
	// beside the run's own; nil without.
	Published *Published
}

// Domain is a corpus and the questions asked over it. One without questions is
// only indexed: its graph is described, and what it cost.
type Domain struct {
	// Name is unique within the data set, e.g. "people".
	Name string
	// Documents streams the corpus in a fixed order. It can be called any
	// number of times.
	Documents func() iter.Seq2[graphrag.Document, error]
	// Items are the questions with their gold, in file order.
	Items []Item
	// Fingerprint is a digest of corpus and questions. A run refuses to go on
	// with records of another fingerprint.
	Fingerprint string
}

// Item is a question together with what is known about its answer.
type Item struct {
	// Question as a system gets it; K and Depth are filled in by the runner.
	Question graphrag.Question
	// Reference is the gold answer of a fact question, "" for a summary.
	Reference string
	// Statements are the gold statements of a summary question.
	Statements []string
	// Section is the text the statements were taken from, "" if unknown.
	Section string
	// Gold lists the units of evidence: each is a set of documents of which
	// any one holds that piece of the evidence.
	Gold []Unit
}

// Unit is one piece of gold evidence: the IDs of the documents any of which
// provides it, sorted. Most units have one document; several titles for one
// source make more.
type Unit []string

// GoldStatements returns what an answer must say: the reference of a fact
// question, the statements of a summary.
func (it Item) GoldStatements() []string {
	if len(it.Statements) > 0 {
		return it.Statements
	}
	if it.Reference == "" {
		return nil
	}
	return []string{it.Reference}
}
