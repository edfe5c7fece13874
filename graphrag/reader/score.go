// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// How the score of a candidate is made up. The parts were chosen one after the other
// on 176 questions of WildGraphBench (none of those that are held out), by how often
// the sentence nearest to the gold comes first or second; each is on a plateau.
const (
	namePart   = 1.5    // weight of a term that names something
	leadPart   = 0.6    // of a term that the header or the term before holds
	answerPart = 0.9    // of one of a question of the page that is answered next
	headPart   = 0.2    // of one that headings, titles and the line before a list hold
	besidePart = 0.25   // of what the better of the neighbours holds
	shapeBonus = 1.3    // factor for having what is asked for
	listBonus  = 1.3    // factor of a list if steps are asked for, else its loss
	wordGain   = 0.0025 // with each word: a long sentence is more often whole
	rankLoss   = 0.045  // with each rank of the chunk

	emptyPart     = 0.2 // of what holds nothing of the question, or nothing else
	referencePart = 0.5 // of an entry of a bibliography
)

// cover is the weight of the question's terms that a candidate holds, those of its
// surroundings in part.
func (c *corpus) cover(x *candidate) float64 {
	lead := x.lead &^ x.own
	head := x.head &^ (x.own | lead)
	part := leadPart
	if x.answers {
		part = answerPart
	}
	return c.q.of(x.own) + part*c.q.of(lead) + headPart*c.q.of(head)
}

// score returns the score of each candidate, and the number of the best.
func (c *corpus) score() (scores []float64, best int) {
	for i := range c.candidates {
		x := &c.candidates[i]
		beside := 0.0
		if i > 0 && c.candidates[i-1].piece == x.piece {
			beside = c.q.of(c.candidates[i-1].own)
		}
		if i+1 < len(c.candidates) && c.candidates[i+1].piece == x.piece {
			beside = max(beside, c.q.of(c.candidates[i+1].own))
		}
		c.scores = append(c.scores, c.scoreOf(x, c.cover(x)+besidePart*beside))
	}
	return c.scores, slices.Index(c.scores, slices.Max(c.scores))
}

// scoreOf is the score of a candidate of which so much of the question is met.
func (c *corpus) scoreOf(x *candidate, met float64) float64 {
	if met == 0 {
		return 0
	}
	if x.entry {
		x.quality *= referencePart
	}
	s := x.quality * met / max(c.q.total, 1e-9)
	if shows(x.said, c.q.want) {
		s *= shapeBonus
	}
	switch {
	case x.list && c.q.steps:
		s *= listBonus
	case x.list:
		s /= listBonus
	case x.own|x.lead == 0, c.echoes(x):
		s *= emptyPart
	}
	return s * (1 + wordGain*float64(x.words)) / (1 + rankLoss*float64(x.piece))
}

// says tells whether a candidate says more than the question does.
func (c *corpus) says(x *candidate) bool { return len(x.distinct()) > x.own.count() }

// echoes tells whether a candidate is a heading or a name that only says again what is
// asked.
func (c *corpus) echoes(x *candidate) bool {
	return (x.kind == load.Heading || x.kind == load.Paragraph && x.words < minHeadline && !c.q.yesNo) && !c.says(x)
}

// The confidence of an answer is a logistic model of what of the question is met.
const (
	sureBase  = -5.3
	sureAsked = 5.0  // by the share of what is asked (terms that are no names) that is met
	sureNames = 3.0  // by the share of the names that are met
	sureShape = -2.0 // if a number, a date, a name or a price is asked for and is not there
	sureEmpty = -2.0 // if the candidate itself holds nothing of the question

	// What is met in the surroundings counts in part.
	nearLead, nearHead, nearPage = 0.9, 0.7, 0.4
)

// confidence is how likely it is that a candidate answers the question.
func (c *corpus) confidence(x *candidate) float64 {
	all, page := set(1)<<c.q.terms-1, c.asked(c.pieces[x.piece].page)
	z := sureBase + sureAsked*c.met(x, page, all&^c.q.names) + sureNames*c.met(x, page, all&c.q.names)
	if c.q.want != 0 && !shows(x.said, c.q.want) {
		z += sureShape
	}
	if x.own == 0 && !x.answers || c.q.terms == 0 {
		z += sureEmpty
	}
	return 1 / (1 + math.Exp(-z))
}

// met is the share of some of the question's terms that a candidate, its surroundings
// and its page meet, 1 of none.
func (c *corpus) met(x *candidate, page, terms set) float64 {
	if terms == 0 {
		return 1
	}
	lead := x.lead &^ x.own
	head := x.head &^ (x.own | lead)
	page &^= x.own | lead | head
	return (c.q.plain(x.own&terms) + nearLead*c.q.plain(lead&terms) + nearHead*c.q.plain(head&terms) + nearPage*c.q.plain(page&terms)) / c.q.plain(terms)
}
