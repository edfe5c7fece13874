// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/protocol"
)

// Judge is a [judge.Judge] without a model. Names, numbers with their units, dates, denials and most of the
// other words must agree; the answer need not repeat the question. It knows few synonyms and no inference, so
// it finds fewer equivalences than a model and its figures must not be compared with a model's. docs/judge.md
// lists its limits, with measured agreement. It is deterministic and safe for concurrent use.
type Judge struct {
	lang *stemmer
	o    judge.Options
}

var _ judge.Judge = (*Judge)(nil)

// version changes with every rule: figures of different versions cannot be compared.
const version = 7

// New returns the judge for English texts.
func New(o judge.Options) (*Judge, error) {
	return &Judge{newStemmer(), o}, nil
}

var info = judge.Info{Profile: "lexical", Kind: judge.KindWords}

// Procedure makes lexical judges.
var Procedure = judge.Procedure{Info: info, New: func(p judge.Parts) (judge.Judge, error) { return New(p.Options) }}

// Info describes the judge.
func (j *Judge) Info() judge.Info { return info }

// Name returns the kind of the judge, the basis of its precision (gold: the gold statements), and the version.
func (j *Judge) Name() string {
	return fmt.Sprintf("lexical/gold/v%d", version) + protocol.Suffix(j.o)
}

// Fact scores 1 if a sentence of the answer, or the whole answer, states the reference.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	if err := ctx.Err(); err != nil {
		return judge.FactJudgment{}, err
	}
	r := &reader{lang: j.lang}
	out := judge.FactJudgment{Grounded: j.grounded(r, c)}
	done := false
	if out.Verdict, done = c.Silent(); !done {
		out.Verdict = r.fact(c)
	}
	return out, nil
}

// grounded judges whether the evidence states every sentence of the answer.
func (j *Judge) grounded(r *reader, c judge.Case) judge.Verdict {
	if !j.o.Grounded {
		return judge.Verdict{}
	}
	if v, none := protocol.Ungrounded(c); none {
		return v
	}
	claims := r.sentences(c.Answer)
	return protocol.Grounded(supportedBy(r.sentences(strings.Join(c.Evidence, "\n\n")), claims), len(claims))
}

// fact compares an answer with the reference.
func (r *reader) fact(c judge.Case) judge.Verdict {
	gold := r.read(protocol.Plain(c.Reference))
	sentences := r.sentences(c.Answer)
	if gold.answer != 0 && len(gold.terms) <= 1 && len(gold.amounts)+len(gold.names) == 0 {
		// The reference is only yes or no, which the scripts of HotpotQA and 2WikiMultiHopQA treat specially.
		if len(sentences) == 0 || sentences[0].answer == 0 {
			return judge.Score(0, "it says neither yes nor no")
		}
		return agreed(sentences[0].answer, gold.answer)
	}
	if gold.empty() {
		return judge.NoScore("the reference holds no word to compare")
	}
	question := r.question(c, &gold)
	if v, ok := yesOrNo(c.Question, &gold, sentences); ok {
		return v
	}
	best := finding{fault: "it speaks of something else"}
	for i := range sentences {
		f := gold.statedIn(&sentences[i], question)
		switch {
		case f.same:
			return f.verdict()
		case f.denied || i == 0 || f.share > best.share && !best.denied:
			best = f
		}
	}
	if !best.denied && len(sentences) > 1 { // several sentences may state the fact together
		joint := join(sentences)
		if f := gold.statedIn(&joint, question); f.same || f.denied {
			best = f
		}
	}
	return best.verdict()
}

// question reads the question and marks the parts of the gold statement that it contains. It returns nil if
// there is no question, or if that contains all parts: then the whole statement is compared.
func (r *reader) question(c judge.Case, gold *features) *features {
	if protocol.Blank(c.Question) {
		return nil
	}
	q := r.read(protocol.Plain(c.Question))
	gold.give(&q)
	if slices.ContainsFunc(gold.terms, func(t term) bool { return !t.given }) || slices.ContainsFunc(gold.amounts, func(a amount) bool { return !a.given }) {
		return &q
	}
	gold.give(&features{})
	return nil
}

func agreed(said, want int8) judge.Verdict {
	if said != want {
		return judge.Score(0, "one side denies it")
	}
	return judge.Score(1, "yes or no, as the reference")
}

// yesOrNo judges an answer of yes or no to a question that asks for one; it returns false for other cases.
func yesOrNo(question string, gold *features, answer []features) (judge.Verdict, bool) {
	first, _, _ := strings.Cut(strings.TrimSpace(question), " ")
	if len(answer) == 0 || answer[0].answer == 0 || !auxiliaries[strings.ToLower(first)] || !answer[0].brief() && gold.missing(&answer[0]) != "" {
		return judge.Verdict{}, false
	}
	want := int8(1)
	if gold.answer != 0 {
		want = gold.answer
	} else if slices.ContainsFunc(gold.terms, func(t term) bool { return t.mask&denied != 0 }) {
		want = -1
	}
	return agreed(answer[0].answer, want), true
}

// brief reports whether an answer has few words besides yes or no.
func (f *features) brief() bool {
	w := 0.0
	for _, t := range f.terms {
		w += float64(t.weight)
	}
	return w <= briefWeight && len(f.amounts) == 0
}

// Summary uses the sentences of the answer as its statements. A gold statement is met by one sentence, or by a
// few together.
func (j *Judge) Summary(ctx context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	if err := ctx.Err(); err != nil {
		return judge.SummaryJudgment{}, err
	}
	r := &reader{lang: j.lang}
	out, done, err := protocol.WithoutSummary(c)
	out.Grounded = j.grounded(r, c)
	if done {
		return out, err
	}
	out.Predicted, out.Truncated = protocol.Distinct(r.split(c.Answer), protocol.MaxStatements)
	if len(out.Predicted) == 0 {
		protocol.NoStatement(&out, c)
		return out, nil
	}
	gold, predicted := r.statements(c.Statements), r.statements(out.Predicted)
	if question := r.read(protocol.Plain(c.Question)); !question.empty() {
		// Sentences of a summary need not repeat the names, dates and numbers of the question.
		question.terms = slices.DeleteFunc(question.terms, func(t term) bool { return !t.name })
		for g := range gold {
			gold[g].give(&question)
		}
	}
	by, supported := matches(gold, predicted)
	protocol.Together(&out, by, supported)
	return out, nil
}

func (f *features) statedByOneOf(all []features) bool {
	return !f.empty() && slices.ContainsFunc(all, func(g features) bool { return f.statedIn(&g, nil).same })
}

// supportedBy counts the statements that one of the sentences states.
func supportedBy(sentences, statements []features) int {
	n := 0
	for i := range statements {
		if statements[i].statedByOneOf(sentences) {
			n++
		}
	}
	return n
}

// split returns the sentences of a text that contain a word.
func (r *reader) split(s string) []string {
	s = protocol.Plain(s)
	var out []string
	for _, span := range text.Sentences(s) {
		sentence := strings.TrimSpace(s[span.Start:span.End])
		word := false
		r.lang.words.Words(sentence, func([]byte) bool { word = true; return false })
		if word {
			out = append(out, sentence)
		}
	}
	return out
}

// sentences returns the features of the sentences of a text.
func (r *reader) sentences(s string) []features { return r.statements(r.split(s)) }

func (r *reader) statements(all []string) []features {
	out := make([]features, len(all))
	for i, s := range all {
		out[i] = r.read(protocol.Plain(s))
	}
	return out
}
