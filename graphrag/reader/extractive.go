// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Defaults of [ExtractiveOptions]. docs/offline.md has the results with this threshold.
const (
	DefaultFactSentences    = 2
	DefaultSummarySentences = 10
	DefaultThreshold        = 0.6
)

// Closest is the beginning of the answer to a question for a fact in Open mode if its confidence is below the
// threshold.
const Closest = "Closest passage: "

// overviewPart times the threshold is the least confidence in the best statement of an overview: no single
// statement has to answer the question.
const overviewPart = 0.1

// ExtractiveOptions are the options of [Extractive].
type ExtractiveOptions struct {
	// Mode is Open if empty.
	Mode Mode
	// SummarySentences is the largest number of statements in an overview or a list, FactSentences in any other
	// answer; 0 means the defaults.
	FactSentences, SummarySentences int
	// Threshold is the least confidence, 0 to 1, of an answer: below it, Reject mode refuses, and in Open mode
	// the answer begins with [Closest]. For overviews it is a tenth, and Closest is not written. 0 means
	// DefaultThreshold.
	Threshold float64
	// Embedder, if set, raises the scores of the 20 best candidates by their cosine with the question, to find
	// answers that use other words than the question. It does not change the confidence.
	Embedder embed.Embedder
}

// Extractive returns a reader that needs no model: the answer consists of quotes, each with a citation.
//
// The evidence is parsed by package load, each chunk after its Lead. Candidates are sentences, items, rows
// of tables under the names of their columns, definitions with their terms, lines of code with their
// comments, front matter, headlines, and short lists with the line before them; navigation, link lists and
// questions are left out. The score of a candidate is the share of the question's terms that it contains,
// weighted by their rarity in the evidence. Terms of its context (a header, a defined term, the preceding
// question of a FAQ, headings) and of its neighbours count in part; there is a bonus for the kind of answer
// that is asked for (a number, a date, a name, a price) and a loss by the rank of its chunk. What or who
// something is, in English, is answered by what defines it.
//
// In English, a sentence whose subject is a pronoun also has the terms to which the pronoun refers: the subject
// of the sentence before, its only full name, or a heading. These are quoted before it, but not in an overview.
//
// If the question asks for the name of a column, the answer is the cell under it, as "COLUMN: CELL", in the row
// that the rest of the question determines; if it determines none or several, the reader refuses.
//
// One candidate is quoted, and a second one if the confidence in the first is low; if it is at least Threshold,
// the second must have terms of the question that the first lacks. An overview quotes the best statements, no
// two of them the same fact, grouped by page, starting with the page of the best.
//
// Answer.Confidence is the probability that the answer is right, within .1 on kinds of text to which it was not
// fitted (docs/offline.md): a logistic model of a few signs, such as the share of the question's terms in the
// candidate, and whether a name is missing. Below Threshold the reader refuses in Reject mode, and the answer
// begins with [Closest] in Open mode.
//
// Citations have the quoted bytes of the source document, for a cell the whole row; if the chunk was
// cleaned, so that its text is not its source span, the span of the chunk. Quotes are without Markdown
// marks, links and line breaks. Headings of derived texts are not quoted.
//
// Parsed passages are cached, since a passage is evidence for many questions: for each language up to 16 MiB of
// text, which takes about four times as much memory; then the cache is emptied.
//
// Without a candidate the answer is a refusal, in Open mode too. Equal input gives equal
// answers. The only errors come from ctx and Embedder.
func Extractive(o ExtractiveOptions) (Reader, error) {
	checks := opt.Checks{Of: "reader"}
	o.Mode.check(&checks)
	opt.Min(&checks, "FactSentences", o.FactSentences, 0)
	opt.Min(&checks, "SummarySentences", o.SummarySentences, 0)
	opt.Range(&checks, "Threshold", o.Threshold, 0, 1)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	o.Mode = cmp.Or(o.Mode, Open)
	o.FactSentences = cmp.Or(o.FactSentences, DefaultFactSentences)
	o.SummarySentences = cmp.Or(o.SummarySentences, DefaultSummarySentences)
	o.Threshold = cmp.Or(o.Threshold, DefaultThreshold)
	return newExtractive(o), nil
}

func newExtractive(o ExtractiveOptions) *extractive {
	return &extractive{o: o, known: make(map[text.Language]*library)}
}

type extractive struct {
	o     ExtractiveOptions
	mu    sync.Mutex
	known map[text.Language]*library
}

func (r *extractive) Name() string { return "extractive/" + string(r.o.Mode) }

// library returns the cache of parsed texts of a language, and replaces it by an empty one when it is full.
func (r *extractive) library(l text.Language) *library {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.known[l]; known != nil && !known.full() {
		return known
	}
	r.known[l] = newLibrary(analyzer().In(l))
	return r.known[l]
}

// corpus returns an empty corpus for a question, which collect fills.
func (r *extractive) corpus(q graphrag.Question, evidence []graphrag.Hit) *corpus {
	l := spoken(q.Text, evidence)
	return &corpus{language: l, lexicon: lexicon{known: r.library(l), number: make(map[int32]int32)}}
}

// analyzer is the analyzer that takes the language of each question.
var analyzer = sync.OnceValue(func() *text.Standard {
	a, _ := text.New(text.Options{Language: text.Each}) // the language is valid
	return a
})

func (r *extractive) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	c := r.corpus(q, evidence)
	if err := c.collect(ctx, q.Text, evidence, derived); err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: answer %q: %w", q.Text, err)
	}
	if len(c.candidates) == 0 {
		return refuse(evidence, derived), nil
	}
	scores, best := c.score()
	if r.o.Embedder != nil {
		var err error
		if best, err = c.compare(ctx, r.o.Embedder, scores, best); err != nil {
			return graphrag.Answer{}, fmt.Errorf("reader: answer %q: %w", q.Text, err)
		}
	}
	if scores[best] == 0 { // no term of the question was found: take the first whole sentence
		best = slices.IndexFunc(c.candidates, func(x candidate) bool { return x.words >= minSentence && ends(x.text) })
		if best < 0 {
			return refuse(evidence, derived), nil
		}
	}
	overview, told := q.Form == graphrag.Overview || q.Form == graphrag.List, true
	if !overview {
		best, told = c.cell(best)
	}
	confidence, threshold := c.confidence(&c.candidates[best], c.third(scores, best)), r.o.Threshold
	if !told {
		confidence = 0
	}
	if overview {
		threshold *= overviewPart
	}
	if r.o.Mode.Rejects() && confidence < threshold {
		return refuse(evidence, derived), nil
	}
	var chosen []int
	prefix := ""
	switch {
	case overview:
		chosen = c.overview(scores, r.o.SummarySentences)
	case confidence >= max(threshold, aloneFrom), c.candidates[best].cell != "" && confidence >= threshold:
		chosen = []int{best}
	default:
		chosen = c.facts(scores, best, r.o.FactSentences, confidence >= threshold)
		if confidence < threshold {
			prefix = Closest
		}
	}
	answer := c.compose(chosen, prefix, overview, evidence)
	answer.Derived, answer.Confidence = derived, confidence
	return answer, nil
}

// compose writes the answer from the chosen candidates; with paragraphs, each page has its own paragraph.
func (c *corpus) compose(chosen []int, prefix string, paragraphs bool, evidence []graphrag.Hit) graphrag.Answer {
	answer := graphrag.Answer{Found: graphrag.Found{Evidence: evidence}}
	var b strings.Builder
	b.WriteString(prefix)
	for n, i := range chosen {
		x := &c.candidates[i]
		p := &c.pieces[x.piece]
		if n > 0 {
			before := &c.candidates[chosen[n-1]]
			b.WriteString(between(before.text, !paragraphs || p.doc == c.pieces[before.piece].doc))
		}
		start, span := b.Len(), x.span
		if before := c.before(x, chosen); before != "" && !paragraphs {
			b.WriteString(before)
			if x.from >= 0 {
				span.Start = x.from
			}
		}
		b.WriteString(c.shown(x))
		if p.evidence < 0 {
			answer.Citations = append(answer.Citations, graphrag.Citation{Start: start, End: b.Len(), Of: graphrag.OfDerived, Evidence: p.derived})
			continue
		}
		citation := graphrag.Citation{Start: start, End: b.Len(), Evidence: p.evidence}
		chunk := evidence[p.evidence].Chunk
		citation.SourceStart, citation.SourceEnd = chunk.Start, chunk.End
		if isSourceSpan(chunk) {
			citation.SourceStart, citation.SourceEnd = chunk.Start+max(0, span.Start-p.shift), chunk.Start+max(0, span.End-p.shift)
		}
		answer.Citations = append(answer.Citations, citation)
	}
	answer.Text = b.String()
	return answer
}

// between returns the text that separates two quotes.
func between(quote string, sameParagraph bool) string {
	switch {
	case !sameParagraph:
		return "\n\n"
	case ends(quote):
		return " "
	}
	return ". "
}

// before returns the text that is quoted before a candidate to explain its pronoun, "" if another chosen
// candidate contains it.
func (c *corpus) before(x *candidate, chosen []int) string {
	switch {
	case len(x.stands) == 0 || slices.ContainsFunc(chosen, func(i int) bool { return c.candidates[i].within(x) }):
		return ""
	case x.from < 0:
		return x.before + ": "
	}
	return x.before + " "
}

// within reports whether a candidate is part of the text quoted before another one.
func (x *candidate) within(other *candidate) bool {
	return x.piece == other.piece && len(other.stands) > 0 && other.from >= 0 && other.from <= x.span.Start && x.span.End <= other.span.Start
}

// Parameters for the choice of a second candidate to quote.
const (
	aloneFrom = 0.8  // confidence from which only the best candidate is quoted
	factFloor = 0.3  // share of the best score that the second must reach
	sameLoss  = 0.15 // loss for having the same terms of the question as the best
	lackGain  = 2.0  // gain for terms that the best lacks, as in chained questions
	repeated  = 0.8  // share of common terms from which two candidates say the same
)

// facts returns at most limit candidates for a question for a fact: the best one, and further ones that do not
// repeat it. If answered is true, these must have terms of the question that the best one lacks.
func (c *corpus) facts(scores []float64, best, limit int, answered bool) []int {
	chosen := []int{best}
	have := c.candidates[best].own | c.candidates[best].lead
	for len(chosen) < limit {
		next, gain := -1, 0.0
		for i := range c.candidates {
			x := &c.candidates[i]
			if scores[i] < factFloor*scores[best] || x.list || answered && x.own&^(have|c.q.weak) == 0 || slices.Contains(chosen, i) || x.within(&c.candidates[best]) ||
				slices.ContainsFunc(chosen, func(o int) bool { return repeats(c.candidates[o].distinct(), x.distinct()) }) {
				continue
			}
			same := float64((x.own & have).count()) / float64(max(1, x.own.count()))
			lacked := c.q.of(x.own&^have) / max(c.q.total, 1e-9)
			if g := (1 - sameLoss*same + lackGain*lacked) * scores[i]; g > gain {
				next, gain = i, g
			}
		}
		if next < 0 {
			break
		}
		chosen = append(chosen, next)
		have |= c.candidates[next].own
	}
	return chosen
}

// repeats reports whether one of two candidates, given by their terms, has nearly all terms of the other.
func repeats(a, b []int32) bool {
	return shared(func(int32) float64 { return 1 }, a, b) >= repeated*float64(min(len(a), len(b)))
}

// shown returns the quote of a candidate. A list item that only repeats terms of the
// question is preceded by its heading.
func (c *corpus) shown(x *candidate) string {
	if x.cell != "" {
		return x.cell
	}
	blocks := c.pieces[x.piece].blocks
	if h := blocks[x.block].Under; h >= 0 && x.kind == load.Item && !c.q.yesNo && !c.says(x) {
		return load.Plain(blocks[h].Text) + ": " + x.text
	}
	return x.text
}

// Signs returns the values from which an extractive reader computes its confidence, separated by tabs, and
// whether the answer is ruled out. The calibration test of examples/ask uses it to write
// testdata/calibration.tsv.
func Signs(ctx context.Context, r Reader, q graphrag.Question, evidence []graphrag.Hit) (string, error) {
	c := r.(*extractive).corpus(q, evidence)
	if err := c.collect(ctx, q.Text, evidence, nil); err != nil || len(c.candidates) == 0 {
		return "", err
	}
	scores, best := c.score()
	if scores[best] == 0 {
		return "", nil
	}
	best, told := c.cell(best)
	y, out := &c.candidates[best], ""
	for _, s := range c.signs(y, c.third(scores, best)) {
		out += fmt.Sprintf("%.3g\t", s)
	}
	return out + fmt.Sprint(!told || c.unlike(y)), nil
}
