// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"cmp"
	"errors"

	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/path"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm"
)

// Names of the system in reports: over a graph from elsewhere, over a graph extracted from the corpus,
// and of the preceding system.
const (
	Name         = "gear"
	NameCorpus   = "gear-corpus"
	NameOriginal = "gear-original"
)

// The settings of the papers: two steps of GeAR-s (section 4), four of GeAR on MuSiQue, ten passages
// to read triples from (GeAR, section 4.2). DefaultLinkShare is ours: GeAR-s reports drift without a
// threshold.
const (
	DefaultSteps         = 2
	DefaultOriginalSteps = 4
	DefaultPassages      = 10
	DefaultLinkShare     = 0.5
)

// Expansion selects the steps in which the graph is used.
type Expansion string

// The expansions. By default GeAR-s expands from the second step on, since simple questions gain
// nothing by it, and GeAR always.
const (
	ExpandLater  Expansion = "later"
	ExpandAlways Expansion = "always"
	ExpandNever  Expansion = "never"
)

// Linking selects the similarity by which triples are linked and aligned, Classifier the questions for
// which the graph is used.
type (
	Linking    string
	Classifier string
)

// The linkings: BM25 over words (GeAR-s, equation 3), and the cosine of vectors, which the paper
// leaves open. The classifiers: every question, or questions that need several facts, by their form in
// English or by the kit's model.
const (
	LinkWords Linking    = "words"
	LinkDense Linking    = "dense"
	WhenEvery Classifier = "every"
	WhenForm  Classifier = "form"
	WhenModel Classifier = "model"
)

// Options of the system. The zero value is GeAR-s over the graph of the corpus; the paper's graph is
// from elsewhere.
type Options struct {
	kit.Common
	// Extract, when set, is used in place of the kit's extractor for the graph of the corpus.
	Extract extract.Extractor
	// Graph is a graph from elsewhere. With it, indexing extracts nothing from the corpus.
	Graph *triples.Index `source:"GeAR-s, section 3"`
	// Reader, when set, reads triples from passages in place of the kit's model, which reflects,
	// filters and answers: GeAR-s has a smaller model for it.
	Reader llm.Model `source:"GeAR-s, sections 4 and 5: the kit's model in place of two"`
	// Original is the system of arXiv 2412.18431.
	Original bool `source:"GeAR-s; the system before it is GeAR, arXiv 2412.18431"`
	// Expand selects the steps in which the graph is used, When the questions.
	Expand Expansion  `source:"GeAR-s, section 5; GeAR expands always"`
	When   Classifier `source:"ours: every question"`
	// Steps bounds the number of searches, Passages the number of passages that triples are read
	// from; 0 is the default of each.
	Steps    int `source:"GeAR-s, section 4; GeAR has 4 on MuSiQue"`
	Passages int `source:"GeAR, section 4.2; GeAR-s gives no value"`
	// LinkShare, above 0 and up to 1, bounds links: the score of a triple of the graph is at least
	// this share of the best possible score, and the two triples share the name of an end.
	// PlainLinks drops both conditions: each triple is linked to the first triple found by its
	// words, as in equation 3 of GeAR-s.
	LinkShare  float64 `source:"ours: GeAR-s reports drift and has no threshold"`
	PlainLinks bool    `source:"ours: GeAR-s, equation 3, has neither condition"`
	// Link selects the similarity by which triples are linked and aligned. LinkShare bounds both.
	Link Linking `source:"GeAR-s, equation 3"`
	// Share is the share of the graph's triples that is used, above 0 and up to 1; 0 is all. A hash
	// with Seed selects them: a larger share contains a smaller one.
	Share float64 `source:"ours: all of the graph"`
	Seed  uint64  `source:"ours"`
	// Beam are the options of the search through the graph.
	Beam path.BeamOptions `source:"GeAR, section 4.2; GeAR-s gives no value"`
}

func (o Options) check(m llm.Model) error {
	var c kit.Checks
	c.Min("Steps", float64(o.Steps), 0)
	c.Min("Passages", float64(o.Passages), 0)
	c.Range("LinkShare", o.LinkShare, 0, 1)
	c.Want(o.Expand == "" || o.Expand == ExpandLater || o.Expand == ExpandAlways || o.Expand == ExpandNever, "Expand", o.Expand, "later, always or never")
	c.Want(o.When == "" || o.When == WhenEvery || o.When == WhenForm || o.When == WhenModel, "When", o.When, "every, form or model")
	c.Want(o.When != WhenModel || m != nil, "When", "model", "an AnswerModel in the kit, or form")
	c.Want(o.Link == "" || o.Link == LinkWords || o.Link == LinkDense, "Link", o.Link, "words or dense")
	c.Range("Share", o.Share, 0, 1)
	c.Add(o.Beam.Check())
	if o.Graph != nil && (o.Original || o.Extract != nil) {
		c.Add(errors.New("a Graph is given, and Original and Extract are of the corpus: set one of them"))
	}
	return c.Err()
}

// Defaults returns the options with zero values replaced by their defaults.
func (o Options) Defaults() Options {
	steps, expand := DefaultSteps, ExpandLater
	if o.Original {
		steps, expand = DefaultOriginalSteps, ExpandAlways
	}
	o.Steps, o.Expand = cmp.Or(o.Steps, steps), cmp.Or(o.Expand, expand)
	o.Passages, o.LinkShare = cmp.Or(o.Passages, DefaultPassages), cmp.Or(o.LinkShare, DefaultLinkShare)
	o.When, o.Link, o.Share = cmp.Or(o.When, WhenEvery), cmp.Or(o.Link, LinkWords), cmp.Or(o.Share, 1)
	return o
}
