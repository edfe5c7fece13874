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

// Names of the system in reports: over a graph from elsewhere, over one that is extracted
// from the corpus, and of the system before it.
const (
	Name         = "gear"
	NameCorpus   = "gear-corpus"
	NameOriginal = "gear-original"
)

// The settings of the papers: two steps of GeAR-s (section 4), four of GeAR on
// MuSiQue, ten passages to read from (GeAR, section 4.2). The least similarity of a
// triple to the one it is linked to is ours: GeAR-s reports drift without a threshold.
const (
	DefaultSteps         = 2
	DefaultOriginalSteps = 4
	DefaultPassages      = 10
	DefaultLinkShare     = 0.5
)

// Expansion says in which steps the graph is used.
type Expansion string

// The expansions. The default is that of the system: GeAR-s expands from the second
// step on, since simple questions gain nothing by it, and GeAR always.
const (
	ExpandLater  Expansion = "later"
	ExpandAlways Expansion = "always"
	ExpandNever  Expansion = "never"
)

// Linking says by what triples are linked and aligned, Classifier for which questions.
type (
	Linking    string
	Classifier string
)

// The linkings: BM25 over words (GeAR-s, equation 3), and the cosine of vectors, which the paper
// leaves open. The classifiers: every question, or only those of several facts, by their form in
// English or by the kit's model.
const (
	LinkWords Linking    = "words"
	LinkDense Linking    = "dense"
	WhenEvery Classifier = "every"
	WhenForm  Classifier = "form"
	WhenModel Classifier = "model"
)

// Options of the system. The zero value is GeAR-s, but over the graph of the corpus: the
// paper's is from elsewhere, and is given.
type Options struct {
	kit.Common
	// Extract, when set, is used in place of the kit's extractor for the graph of
	// the corpus.
	Extract extract.Extractor
	// Graph is a graph from elsewhere. With it nothing is extracted from the corpus
	// when it is indexed.
	Graph *triples.Index `source:"GeAR-s, section 3"`
	// Reader, when set, reads triples from passages in place of the kit's model, which
	// reflects, filters and answers: GeAR-s has a smaller one for it.
	Reader llm.Model `source:"GeAR-s, sections 4 and 5: the kit's model in place of two"`
	// Original is the system of arXiv 2412.18431.
	Original bool `source:"GeAR-s; the system before it is GeAR, arXiv 2412.18431"`
	// Expand says in which steps the graph is used, and When for which questions.
	Expand Expansion  `source:"GeAR-s, section 5; GeAR expands always"`
	When   Classifier `source:"ours: every question"`
	// Steps is how many searches there are at most, Passages how many passages triples
	// are read from; 0 is the default of each.
	Steps    int `source:"GeAR-s, section 4; GeAR has 4 on MuSiQue"`
	Passages int `source:"GeAR, section 4.2; GeAR-s gives no value"`
	// LinkShare is the least score of a triple of the graph beside that of the triple
	// it stands for, above 0 and up to 1. The two have the name of an end in common, too.
	// PlainLinks drops both conditions: each triple is linked to the first that its words
	// find, as in equation 3 of GeAR-s.
	LinkShare  float64 `source:"ours: GeAR-s reports drift and has no threshold"`
	PlainLinks bool    `source:"ours: GeAR-s, equation 3, has neither condition"`
	// Link says by what triples are linked and aligned. LinkShare stands beside a cosine, too.
	Link Linking `source:"GeAR-s, equation 3"`
	// Share is the part of the graph's triples that is there, above 0 and up to 1; 0 is all of
	// them. They are chosen by a hash with Seed: those of a small share are among those of a
	// larger one.
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

// Defaults returns the options with what zero stands for.
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
