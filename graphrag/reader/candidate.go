// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// maxChain is how many headings above, and leads before, count for what may be quoted.
const maxChain = 3

// candidate is a quote, beside a question.
type candidate struct {
	*quote
	piece int // number of the piece it stands in, in order of rank
	// The question's terms that it holds, that what it goes on from holds (the header
	// of a row, the line before a list, the question that is answered), that its
	// headings and its title hold.
	own, lead, head set
	answers         bool // what the page asks before it

	terms   []int32 // see distinct
	sorted  bool
	quality float64 // factor for what is cut, or a heading
}

// distinct are the terms of a candidate, rising. Most candidates are never asked.
func (x *candidate) distinct() []int32 {
	if !x.sorted {
		slices.Sort(x.terms)
		x.terms, x.sorted = slices.Compact(x.terms), true
	}
	return x.terms
}

// piece is a text that candidates stand in: a chunk, or derived text.
type piece struct {
	*reading
	evidence int // index into the evidence, -1 of derived text
	derived  int // index into the derived texts
	doc      string
	title    set
}

// corpus are the candidates of all evidence, and the memory for those of the next.
type corpus struct {
	lexicon    *lexicon
	q          *question
	pieces     []piece
	candidates []candidate
	sets       []set
	scores     []float64
}

// collect reads all material. The one error is that of ctx.
func (c *corpus) collect(ctx context.Context, question string, evidence []graphrag.Hit, derived []graphrag.Derived) error {
	c.q = newQuestion(question, c.lexicon)
	for i, h := range evidence {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := c.lexicon.known.read(source{h.Chunk.Lead, h.Chunk.Title, h.Chunk.Text})
		c.add(piece{reading: r, evidence: i, doc: h.Chunk.Doc, title: c.asked(r.title)})
	}
	for i, d := range derived {
		if err := ctx.Err(); err != nil {
			return err
		}
		heading := min(max(d.Heading, 0), len(d.Text))
		title := c.lexicon.known.terms(d.Text[:heading])
		c.add(piece{reading: c.lexicon.known.read(source{text: d.Text[heading:]}), evidence: -1, doc: strings.Join(d.Docs, " "), derived: i, title: c.asked(title)})
	}
	var df [maxTerms]int
	for i := range c.candidates {
		for own := c.candidates[i].own; own != 0; own &= own - 1 {
			df[own.first()]++
		}
	}
	c.q.weigh(&df, len(c.candidates))
	return ctx.Err()
}

// reset forgets what was read and keeps the memory.
func (c *corpus) reset() {
	clear(c.pieces)
	clear(c.candidates)
	c.pieces, c.candidates, c.sets, c.scores = c.pieces[:0], c.candidates[:0], c.sets[:0], c.scores[:0]
	c.lexicon.reset()
}

// asked are the question's terms among those of a text, which it numbers.
func (c *corpus) asked(known []int32) set {
	terms := c.lexicon.local(known)
	defer c.lexicon.forget(terms)
	return c.own(terms)
}

// own are the question's terms among terms.
func (c *corpus) own(terms []int32) (s set) {
	for _, t := range terms {
		if int(t) < c.q.terms {
			s |= 1 << t
		}
	}
	return s
}

// rarity is the weight of a term that df of n texts have: that of BM25, which stays
// positive, dampened.
func rarity(df, n float64) float64 { return math.Pow(math.Log(1+(n-df+0.5)/(df+0.5)), 0.7) }

// add adds the candidates of one text.
func (c *corpus) add(p piece) {
	if len(p.blocks) == 0 {
		return
	}
	sets := c.setsOf(p.reading)
	for i := range p.quotes {
		q := &p.quotes[i]
		x := candidate{quote: q, piece: len(c.pieces), terms: c.lexicon.local(q.has), quality: q.quality}
		x.own = c.own(x.terms)
		if q.list {
			x.own = sets[q.block]
		}
		x.lead = c.asked(q.asked)
		x.answers = x.lead != 0
		x.lead |= c.asked(q.section)
		for l, n := p.blocks[q.block].Lead, 0; l >= 0 && n < maxChain; l, n = p.blocks[l].Lead, n+1 {
			x.lead |= sets[l]
		}
		for h, n := p.blocks[q.block].Under, 0; h >= 0 && n < maxChain; h, n = p.blocks[h].Under, n+1 {
			x.head |= sets[h]
		}
		x.head |= p.title
		c.candidates = append(c.candidates, x)
	}
	c.pieces = append(c.pieces, p)
}

// setsOf are the question's terms of the blocks that others stand under or go on from;
// of the other blocks they are empty.
func (c *corpus) setsOf(r *reading) []set {
	start := len(c.sets)
	for _, b := range r.terms {
		c.sets = append(c.sets, c.asked(b))
	}
	return c.sets[start:]
}

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

// What an embedder adds to words. Both are on plateaus (2 to 4, 10 to 40) over the
// questions of WildGraphBench that are not held out.
const (
	alikePart = 2.0 // what a cosine of 1 adds to a score, in parts of it
	maxAlike  = 20  // the best candidates by words, which are embedded
)

// WithEmbedder returns a reader that also compares what it may quote with the question
// by an embedder, if it is that of [Extractive]; other readers are returned as they are.
func WithEmbedder(r Reader, e embed.Embedder) Reader {
	x, ok := r.(*extractive)
	if !ok {
		return r
	}
	o := x.o
	o.Embedder = e
	return newExtractive(o)
}

// compare raises the scores of the best candidates by how like the question they are,
// and returns the number of the best. A text without a direction is like none.
func (c *corpus) compare(ctx context.Context, e embed.Embedder, scores []float64, best int) (int, error) {
	if scores[best] == 0 {
		return best, nil
	}
	order := make([]int, 0, len(scores))
	for i, s := range scores {
		if s > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	order = order[:min(maxAlike, len(order))]
	texts := make([]string, len(order))
	for n, i := range order {
		texts[n] = c.candidates[i].text
	}
	question, err := e.EmbedQuery(ctx, c.q.text)
	if err != nil {
		return 0, err
	}
	rows, err := e.EmbedDocuments(ctx, texts)
	if err == nil && len(rows) != len(texts) {
		err = fmt.Errorf("the embedder returned %d vectors for %d texts", len(rows), len(texts))
	}
	if err != nil {
		return 0, err
	}
	for n, i := range order {
		scores[i] *= 1 + alikePart*max(0, vector.Cosine(question, rows[n]))
		if scores[i] > scores[best] {
			best = i
		}
	}
	return best, nil
}
