// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Defaults of [ExtractiveOptions]. The threshold is where an answer is as likely to be
// right as not; docs/offline.md has what comes of it.
const (
	DefaultFactSentences    = 2
	DefaultSummarySentences = 10
	DefaultThreshold        = 0.5
)

// Closest is what the answer to a fact question in Open mode begins with if its
// confidence is below the threshold.
const Closest = "Closest passage: "

// overviewPart is the part of the threshold that the best statement of an overview
// must reach: together they need not answer one thing.
const overviewPart = 0.1

// ExtractiveOptions are the options of [Extractive].
type ExtractiveOptions struct {
	// Mode is Open if empty.
	Mode Mode
	// SummarySentences are the most statements of an overview or a list,
	// FactSentences of any other answer; 0 means the defaults.
	FactSentences, SummarySentences int
	// Threshold is the confidence, 0 to 1, below which an answer is refused in Reject
	// mode and begins with [Closest] in Open mode; for overviews, a tenth of it,
	// and no mark. 0 means DefaultThreshold.
	Threshold float64
	// Analyzer makes terms of words; nil means text.Default().
	Analyzer text.Analyzer
	// Embedder, if set, also compares the 20 best candidates by words with the
	// question: one that says the same in other words is moved up. Confidence stays
	// that of words.
	Embedder embed.Embedder
}

// Extractive returns a reader that needs no model: the answer is made of quotes, each
// with a citation.
//
// The evidence is read as structure (package load; a chunk after its Lead). What can
// be quoted are sentences of any length, items, rows of tables under the names of
// their columns, definitions with their terms, lines of code with their comments,
// front matter, headlines, and short lists with what leads into them; navigation,
// link lists and questions are left out. A candidate scores by the share of the
// question that it holds, weighted by how rare its words are in the evidence, that
// what it goes on from holds (a header, a term, the question a FAQ asks before it,
// headings), with something added for its neighbours, for having what is asked for (a
// number, a date, a name, a price) and for the rank of its chunk.
//
// One candidate is quoted, and a second if it is not clear that the first one answers.
// The answer to a question for an overview has the best statements, no two of them
// alike, grouped by page, the page with the best one first.
//
// Answer.Confidence is how likely the best candidate is right: a logistic model of how
// much of what is asked, and of the names, it and its surroundings meet. Below
// Threshold the reader refuses in Reject mode and says [Closest] in Open mode.
//
// Citations carry the quoted bytes of the source document, of a row the row; if the
// chunk was cleaned, so that its text is not its source span, the whole span of the
// chunk. Quotes are without marks of Markdown, links and line breaks. Headings of
// derived texts are not quoted.
//
// A passage is evidence for many questions, so what was read of it is kept: of up to 16 MiB of
// texts, which takes some four times as much memory, then it begins anew.
//
// With nothing to quote the answer is a refusal, in Open mode too. Equal input
// gives equal answers. Only errors of ctx and of Embedder are returned.
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
	if o.Analyzer == nil {
		o.Analyzer = text.Default()
	}
	return newExtractive(o), nil
}

func newExtractive(o ExtractiveOptions) *extractive {
	r := &extractive{o: o}
	r.known.Store(newLibrary(o.Analyzer))
	r.memory.New = func() any { return &corpus{lexicon: new(lexicon)} }
	return r
}

type extractive struct {
	o      ExtractiveOptions
	known  atomic.Pointer[library]
	memory sync.Pool // of *corpus
}

// Name implements [Reader].
func (r *extractive) Name() string { return "extractive/" + string(r.o.Mode) }

// library is what was read so far, anew when it is full.
func (r *extractive) library() *library {
	known := r.known.Load()
	if known.full() {
		r.known.CompareAndSwap(known, newLibrary(r.o.Analyzer))
		known = r.known.Load()
	}
	return known
}

// Read implements [Reader].
func (r *extractive) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	c := r.memory.Get().(*corpus)
	defer r.memory.Put(c)
	defer c.reset()
	c.lexicon.begin(r.library())
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
	if scores[best] == 0 { // nothing of the question: the first whole sentence is as close as any
		best = slices.IndexFunc(c.candidates, func(x candidate) bool { return x.words >= minSentence && ends(x.text) })
		if best < 0 {
			return refuse(evidence, derived), nil
		}
	}
	confidence, threshold := c.confidence(&c.candidates[best]), r.o.Threshold
	overview := q.Form == graphrag.Overview || q.Form == graphrag.List
	if overview {
		threshold *= overviewPart
	}
	if r.o.Mode == Reject && confidence < threshold {
		return refuse(evidence, derived), nil
	}
	var chosen []int
	prefix := ""
	switch {
	case overview:
		chosen = c.overview(scores, r.o.SummarySentences)
	case confidence >= max(threshold, enough):
		chosen = []int{best}
	default:
		chosen = c.facts(scores, best, r.o.FactSentences)
		if confidence < threshold {
			prefix = Closest
		}
	}
	answer := c.compose(chosen, prefix, overview, evidence)
	answer.Derived, answer.Confidence = derived, confidence
	return answer, nil
}

// compose makes an answer of the chosen candidates, with a paragraph for each page if
// asked to.
func (c *corpus) compose(chosen []int, prefix string, paragraphs bool, evidence []graphrag.Hit) graphrag.Answer {
	answer := graphrag.Answer{Evidence: evidence}
	var b strings.Builder
	b.WriteString(prefix)
	for n, i := range chosen {
		x := &c.candidates[i]
		p := &c.pieces[x.piece]
		if n > 0 {
			before := &c.candidates[chosen[n-1]]
			b.WriteString(between(before.text, !paragraphs || p.doc == c.pieces[before.piece].doc))
		}
		start := b.Len()
		b.WriteString(c.shown(x))
		if p.evidence < 0 {
			answer.Citations = append(answer.Citations, graphrag.Citation{Start: start, End: b.Len(), Of: graphrag.OfDerived, Evidence: p.derived})
			continue
		}
		citation := graphrag.Citation{Start: start, End: b.Len(), Evidence: p.evidence}
		chunk := evidence[p.evidence].Chunk
		citation.SourceStart, citation.SourceEnd = chunk.Start, chunk.End
		if isSourceSpan(chunk) {
			citation.SourceStart, citation.SourceEnd = chunk.Start+max(0, x.span.Start-p.shift), chunk.Start+max(0, x.span.End-p.shift)
		}
		answer.Citations = append(answer.Citations, citation)
	}
	answer.Text = b.String()
	return answer
}

// between is what stands between two quotes.
func between(quote string, sameParagraph bool) string {
	switch {
	case !sameParagraph:
		return "\n\n"
	case ends(quote):
		return " "
	}
	return ". "
}

// When a second candidate is quoted beside the best, and which.
const (
	enough    = 0.8  // confidence from which the best is quoted alone
	factFloor = 0.3  // part of the best score that another must reach
	sameLoss  = 0.15 // loss of one that holds the same part of the question
	lackGain  = 2.0  // gain of one that holds what the first lacks, as in chained questions
	repeated  = 0.8  // share of the terms of one in another from which they are the same
)

// facts returns the candidates that answer a question for facts, at most limit: the
// best, and if it is not clear that it answers, the next ones that say something else.
func (c *corpus) facts(scores []float64, best, limit int) []int {
	chosen := []int{best}
	have := c.candidates[best].own | c.candidates[best].lead
	for len(chosen) < limit {
		next, gain := -1, 0.0
		for i := range c.candidates {
			x := &c.candidates[i]
			if scores[i] < factFloor*scores[best] || x.list || slices.Contains(chosen, i) ||
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

// repeats tells whether one of two texts has nearly all terms of the other.
func repeats(a, b []int32) bool {
	same := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			same, i, j = same+1, i+1, j+1
		}
	}
	return float64(same) >= repeated*float64(min(len(a), len(b)))
}

// shown is a candidate as it is quoted: one that says nothing but what was asked says
// it under its heading.
func (c *corpus) shown(x *candidate) string {
	blocks := c.pieces[x.piece].blocks
	if h := blocks[x.block].Under; h >= 0 && x.kind == load.Item && !c.q.yesNo && !c.says(x) {
		return load.Plain(blocks[h].Text) + ": " + x.text
	}
	return x.text
}
