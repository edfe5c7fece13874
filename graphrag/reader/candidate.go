// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// maxChain is the largest number of headings above a candidate, and of leads, whose terms count for it.
const maxChain = 3

// candidate is a quote with the terms of the question that it and its context contain.
type candidate struct {
	*quotation
	piece int // index of the piece that contains it, in order of rank
	// The terms of the question in the quote, in its lead (the header of a row, the line before a list, the
	// question of a FAQ), and in its headings and the title.
	own, lead, head set
	spoken          set    // terms to which its pronoun refers; own contains them
	answers         bool   // it follows a question on its page
	cell            string // the cell that answers, after the name of its column

	terms   []int32 // returned by distinct
	sorted  bool
	quality float64 // factor below 1 for a cut sentence or a heading
}

// distinct returns the terms of a candidate, ascending. They are sorted when first needed.
func (x *candidate) distinct() []int32 {
	if !x.sorted {
		slices.Sort(x.terms)
		x.terms, x.sorted = slices.Compact(x.terms), true
	}
	return x.terms
}

// evidencePiece is a text with candidates: a chunk, or a derived text.
type evidencePiece struct {
	*reading
	evidence int // index in the evidence, -1 for a derived text
	derived  int // index in the derived texts
	doc      string
	title    set
}

// corpus holds the candidates of all evidence.
type corpus struct {
	language   text.Language
	lexicon    lexicon
	q          *inquiry
	pieces     []evidencePiece
	candidates []candidate
}

// collect reads all evidence and derived texts. The only error comes from ctx.
func (c *corpus) collect(ctx context.Context, question string, evidence []graphrag.Hit, derived []graphrag.Derived) error {
	c.q = newQuestion(question, &c.lexicon, c.language)
	for i, h := range evidence {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := c.lexicon.known.read(shownText{h.Chunk.Lead, h.Chunk.Title, h.Chunk.Text})
		c.add(evidencePiece{reading: r, evidence: i, doc: h.Chunk.Doc, title: c.asked(r.title)})
	}
	for i, d := range derived {
		if err := ctx.Err(); err != nil {
			return err
		}
		heading := min(max(d.Heading, 0), len(d.Text))
		title := c.lexicon.known.terms(d.Text[:heading])
		c.add(evidencePiece{reading: c.lexicon.known.read(shownText{text: d.Text[heading:]}), evidence: -1, doc: strings.Join(d.Docs, " "), derived: i, title: c.asked(title)})
	}
	var df [maxTerms]int
	for i := range c.candidates {
		for own := c.candidates[i].own; own != 0; own &= own - 1 {
			df[own.first()]++
		}
	}
	c.q.weigh(&df)
	return ctx.Err()
}

// asked returns the terms of the question that are among terms numbered by the library.
func (c *corpus) asked(known []int32) set { return c.own(c.lexicon.local(known)) }

// own returns the terms of the question that are among terms numbered by the lexicon.
func (c *corpus) own(terms []int32) (s set) {
	for _, t := range terms {
		if int(t) < c.q.terms {
			s |= 1 << t
		}
	}
	return s
}

// rarity returns the weight of a term that df of n texts contain: the IDF of BM25, always positive.
func rarity(df, n float64) float64 { return math.Log(1 + (n-df+0.5)/(df+0.5)) }

// add adds the candidates of one text.
func (c *corpus) add(p evidencePiece) {
	if len(p.blocks) == 0 {
		return
	}
	sets := c.setsOf(p.reading)
	for i := range p.quotes {
		q := &p.quotes[i]
		x := candidate{quotation: q, piece: len(c.pieces), terms: c.lexicon.local(q.has), quality: q.quality}
		x.spoken = c.asked(q.stands)
		x.own = c.own(x.terms) | x.spoken
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

// setsOf returns, by block, the terms of the question in a block that is a heading or that others depend on, such as
// the header of a table or the paragraph before a list; the set of any other block is empty.
func (c *corpus) setsOf(r *reading) []set {
	sets := make([]set, len(r.terms))
	for i, b := range r.terms {
		sets[i] = c.asked(b)
	}
	return sets
}

// The weights of the parts of a score. Each is chosen alone on 176 questions of WildGraphBench (none of the
// held-out ones), by how often the sentence nearest to the gold answer is ranked first or second; results
// hardly change near each value.
const (
	namePart   = 1.5    // weight of a term of a name
	leadPart   = 0.6    // weight of a term in the lead
	headPart   = 0.2    // weight of a term in headings or the title
	besidePart = 0.25   // weight of the terms in the sentence before or after, whichever has more
	defineGain = 2.0    // factor for defining the subject of the question
	shapeBonus = 1.3    // factor for containing the kind of answer that is asked for
	wordGain   = 0.0025 // gain by each word: a long sentence is more often complete
	rankLoss   = 0.045  // loss by each rank of the chunk

	emptyPart     = 0.2 // factor for containing no term of the question, or only these
	referencePart = 0.5 // factor for an entry of a bibliography
)

// cover returns the weight of the terms of the question in a candidate; terms in its context count in part.
func (c *corpus) cover(x *candidate) float64 {
	lead := x.lead &^ x.own
	head := x.head &^ (x.own | lead)
	return c.q.of(x.own) + leadPart*c.q.of(lead) + headPart*c.q.of(head)
}

// score returns the score of each candidate, and the index of the best one.
func (c *corpus) score() (scores []float64, best int) {
	scores = make([]float64, len(c.candidates))
	for i := range c.candidates {
		x := &c.candidates[i]
		beside := 0.0
		if i > 0 && c.candidates[i-1].piece == x.piece {
			beside = c.q.of(c.candidates[i-1].own)
		}
		if i+1 < len(c.candidates) && c.candidates[i+1].piece == x.piece {
			beside = max(beside, c.q.of(c.candidates[i+1].own))
		}
		scores[i] = c.scoreOf(x, c.cover(x)+besidePart*beside)
	}
	return scores, slices.Index(scores, slices.Max(scores))
}

// scoreOf returns the score of a candidate; met is the weight of the terms that it covers.
func (c *corpus) scoreOf(x *candidate, met float64) float64 {
	if met == 0 {
		return 0
	}
	if x.entry {
		x.quality *= referencePart
	}
	s := x.quality * met / max(c.q.total, 1e-9)
	if c.q.shows(x.said) {
		s *= shapeBonus
	}
	if c.defines(x) {
		s *= defineGain
	}
	if !x.list && (x.own|x.lead == 0 || c.echoes(x)) {
		s *= emptyPart
	}
	return s * (1 + wordGain*float64(x.words)) / (1 + rankLoss*float64(x.piece))
}

// says reports whether a candidate has terms that are not in the question.
func (c *corpus) says(x *candidate) bool { return len(x.distinct()) > x.own.count() }

// echoes reports whether a candidate is a heading or a name that only repeats terms of the question.
func (c *corpus) echoes(x *candidate) bool {
	return (x.kind == load.Heading || x.kind == load.Paragraph && x.words < minHeadline && !c.q.yesNo) && !c.says(x)
}

// signs are the inputs of the logistic model that estimates whether a candidate answers the question. They do
// not depend on other candidates, except for the share of the third best score.
type signs [8]float64

// sure has the coefficients of the logistic model of confidence. They are fitted to questions over five kinds
// of text with equal weight: testdata/calibration.tsv; a test fits them again, also without each kind.
var sure = signs{
	0.83,  // constant
	2.33,  // share of the question's terms that the candidate covers
	-1.72, // terms of the question with a weight of 1 or more are missing
	0.21,  // number of terms of the question in it, at most maxOwn
	1.40,  // it is the cell of a table that is asked for
	-2.11, // score of the third best candidate relative to its own
	-1.30, // a name of the question is not on its page, or only as a common word
	-0.91, // a number, date, name or price is asked for and missing
}

const (
	maxOwn     = 3
	rival      = 0.3 // least value of the third best score, relative to the best
	nearPart   = 0.7 // weight of a term that is only in the lead or the headings
	unlikePart = 0.1 // largest confidence of a candidate that unlike rules out
)

// signs returns the signs of a candidate; third is the score of the third best candidate relative to its own.
func (c *corpus) signs(x *candidate, third float64) signs {
	all, near := set(1)<<c.q.terms-1, x.own|x.lead|x.head
	sign := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	return signs{1,
		(c.q.plain(x.own) + nearPart*c.q.plain(near&^x.own)) / max(c.q.plain(all), 1e-9),
		sign(c.q.plain(all&^near) >= 1),
		float64(min(maxOwn, x.own.count())),
		sign(x.cell != ""),
		third,
		sign(c.q.names&^(near|c.asked(c.pieces[x.piece].page)) != 0 || c.q.common(x.text)),
		sign(c.q.want != 0 && !c.q.shows(x.said)),
	}
}

// confidence returns the probability that a candidate answers the question.
func (c *corpus) confidence(x *candidate, third float64) float64 {
	p := c.signs(x, third).under(&sure)
	if c.unlike(x) {
		return min(p, unlikePart)
	}
	return p
}

// under returns the probability that a logistic model assigns to the signs.
func (s signs) under(model *signs) float64 {
	z := 0.0
	for i := range s {
		z += s[i] * model[i]
	}
	return 1 / (1 + math.Exp(-z))
}

// unlike reports whether a candidate cannot be the answer, whatever words it contains: it does not define the
// subject if that is asked for, is about something else, or names no price if one is asked for.
func (c *corpus) unlike(x *candidate) bool {
	return c.q.terms == 0 || c.q.defined != nil && !x.answers && !c.defines(x) || c.other(x) ||
		c.q.want&hasMoney != 0 && !c.q.yesNo && !c.q.shows(x.said)
}

// third returns the third best score of different texts relative to the best one, at least rival.
func (c *corpus) third(scores []float64, best int) float64 {
	var second, third float64
	for i, s := range scores {
		switch {
		case i == best || s <= third || c.candidates[i].text == c.candidates[best].text:
		case s > second:
			second, third = s, second
		default:
			third = s
		}
	}
	return max(rival, min(1, third/max(scores[best], 1e-9)))
}

// other reports whether a candidate is about something else than the question: its pronoun refers to something
// that the question does not name, and the question names something that the candidate lacks.
func (c *corpus) other(x *candidate) bool {
	if len(x.stands) == 0 || x.answers {
		return false
	}
	lacks := (set(1)<<c.q.terms - 1) &^ (c.q.weak | x.own)
	if lacks&c.q.names&^x.head != 0 {
		return true
	}
	if x.from < 0 { // the pronoun refers to a heading, perhaps the subject of the page
		lacks &^= x.head
	}
	return x.spoken == 0 && lacks != 0
}

// Parameters of an embedder. Results on the questions of WildGraphBench that are not held out hardly change
// from 2 to 4 and from 10 to 40.
const (
	alikePart = 2.0 // a cosine c multiplies a score by 1 + alikePart·c
	maxAlike  = 20  // number of the best candidates by words that are embedded
)

// WithEmbedder returns a reader of [Extractive] with the option Embedder set; other readers
// are returned unchanged.
func WithEmbedder(r Reader, e embed.Embedder) Reader {
	x, ok := r.(*extractive)
	if !ok {
		return r
	}
	o := x.o
	o.Embedder = e
	return newExtractive(o)
}

// compare raises the scores of the best candidates by their cosine with the question, and returns the index of
// the best one. The cosine of a zero vector is 0.
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

// unit matches a text in parentheses in the name of a column.
var unit = regexp.MustCompile(`\([^)]*\)`)

// cell answers a question for a cell by the name of its column, such as "What is the price of X?", in the table
// of the best candidate. It returns the row that contains all terms of X that occur in the table; of several
// such rows, the only one with a cell that contains only terms of X. It returns false if no row or several rows
// remain, or if the cell is empty. For any other question it returns the best candidate.
func (c *corpus) cell(best int) (row int, ok bool) {
	header := c.header(&c.candidates[best])
	named, rest := make([]bool, len(header.Cells)), (set(1)<<c.q.terms-1)&^c.q.weak
	for j := range named {
		terms, all := c.askedOf(unit.ReplaceAllString(header.Cell(j), ""))
		if named[j] = all; all {
			rest &^= terms
		}
	}
	var rows, match, exact []int
	var present set
	seen := make(map[string]bool) // a row in two chunks counts once
	for i := range c.candidates {
		x := &c.candidates[i]
		if len(named) > 0 && c.header(x).Text == header.Text && !seen[x.text] {
			rows, present, seen[x.text] = append(rows, i), present|x.own&rest, true
		}
	}
	if present == 0 {
		return best, true
	}
	for _, i := range rows {
		x, whole := &c.candidates[i], false
		for j := range named {
			terms, all := c.askedOf(c.block(x).Cell(j))
			named[j] = named[j] && terms&present == 0 // a column with terms of X identifies rows and is not asked for
			whole = whole || all && terms&present != 0
		}
		if x.own&present == present {
			if match = append(match, i); whole {
				exact = append(exact, i)
			}
		}
	}
	if !slices.Contains(named, true) {
		return best, true
	}
	if len(exact) > 0 {
		match = exact
	}
	if len(match) != 1 {
		return best, false
	}
	x, column := &c.candidates[match[0]], -1
	for j, asked := range named {
		if value := c.block(x).Cell(j); asked && (c.q.want == 0 || value == "" || c.q.shows("is "+value)) {
			if column >= 0 {
				return match[0], true // several columns are possible, so the whole row answers
			}
			column = j
		}
	}
	if column < 0 || c.block(x).Cell(column) == "" {
		return match[0], column < 0
	}
	x.cell = header.Cell(column) + ": " + c.block(x).Cell(column)
	return match[0], true
}

func (c *corpus) block(x *candidate) load.Block { return c.pieces[x.piece].blocks[x.quotation.block] }

// header returns the header of the table of a row, without cells if there is none.
func (c *corpus) header(x *candidate) (h load.Block) {
	if lead := c.block(x).Lead; x.kind == load.Row && lead >= 0 && c.pieces[x.piece].blocks[lead].Kind == load.Header {
		h = c.pieces[x.piece].blocks[lead]
	}
	return h
}

// askedOf returns the terms of the question in a text, and whether the text has no other terms.
func (c *corpus) askedOf(s string) (asked set, all bool) {
	terms := c.lexicon.known.terms(s)
	asked = c.asked(terms)
	return asked, asked != 0 && asked.count() == len(terms)
}
