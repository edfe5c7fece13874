// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
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
