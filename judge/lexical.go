// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// The thresholds of [Lexical]: the shares of weight that must agree. They are
// set so that a copied, reordered or lightly reworded statement passes and a
// statement with another number, date or main noun does not; they are not
// fitted to any data set.
const (
	// factShare of a gold statement must be in the answer, or in the predicted
	// statement it is matched with.
	factShare = 0.7
	// supportShare of a statement must be in one sentence of a section.
	supportShare = 0.75
)

// Lexical is a [Judge] without a model. It compares weighted word stems;
// numbers have to agree and so does negation. It knows no synonyms and no
// inference, so it finds fewer equivalences than a model and its figures must
// not be set beside a model's. It is deterministic and safe for concurrent
// use.
type Lexical struct {
	words *text.Analyzer
	o     Options
}

var _ Judge = (*Lexical)(nil)

// NewLexical returns the judge for English texts. The profile must be Paper:
// Upstream is the procedure of a model.
func NewLexical(o Options) (*Lexical, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if o.Profile != Paper {
		return nil, fmt.Errorf("judge: the lexical judge has no profile %q", o.Profile)
	}
	words, err := text.New(text.Options{})
	if err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	return &Lexical{words: words, o: o}, nil
}

// Name tells the kind and the precision reference.
func (j *Lexical) Name() string { return fmt.Sprintf("lexical/%s/v1", j.o.Precision) }

// Fact scores 1 if the answer holds enough of the reference, all of its
// numbers, and the same denials.
func (j *Lexical) Fact(ctx context.Context, c Case) (FactJudgment, error) {
	if err := ctx.Err(); err != nil {
		return FactJudgment{}, err
	}
	if v, done := withoutAnswer(c); done {
		return FactJudgment{Verdict: v}, nil
	}
	gold := j.features(c.Reference)
	if gold.weight == 0 {
		return FactJudgment{Verdict: NoScore("the reference holds no word to compare")}, nil
	}
	best := Score(0, "")
	var whole features
	for _, s := range j.statements(c.Answer) {
		f := j.features(s)
		whole.merge(f)
		if v := gold.verdictIn(f); v.Value > best.Value || best.Reason == "" {
			best = v
		}
	}
	if best.Value == 0 && len(whole.terms) > 0 && !gold.negated { // the fact may be spread over sentences
		whole.negated = false
		best = gold.verdictIn(whole)
	}
	return FactJudgment{Verdict: best}, nil
}

// Summary takes the sentences of the answer as its statements and matches
// each with each gold statement.
func (j *Lexical) Summary(ctx context.Context, c Case) (SummaryJudgment, error) {
	var out SummaryJudgment
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if out, done := withoutSummary(c); done {
		return out, nil
	}
	out.Predicted, out.Truncated = distinct(j.statements(c.Answer), j.o.MaxStatements)
	if len(out.Predicted) == 0 {
		out.noStatement(c)
		return out, nil
	}
	gold, predicted := j.allFeatures(c.Statements), j.allFeatures(out.Predicted)
	for g := range gold {
		for p := range predicted {
			if gold[g].same(predicted[p]) {
				out.Matches = append(out.Matches, Match{Gold: g, Predicted: p})
			}
		}
	}
	out.scoreMatches(len(gold))
	if !out.withoutPrecision(j.o.Precision, c) && j.o.Precision == RefSection {
		out.setPrecision(supportedBy(j.allFeatures(j.statements(c.Section)), predicted))
	}
	return out, nil
}

// supportedBy counts the statements that a sentence of the section holds.
func supportedBy(section, statements []features) int {
	met := make([]bool, len(statements))
	for i, s := range statements {
		for _, sentence := range section {
			if s.weight > 0 && s.negated == sentence.negated && s.numbersIn(sentence) && s.shareIn(sentence) >= supportShare {
				met[i] = true
				break
			}
		}
	}
	return count(met)
}

// statements splits a text into sentences that hold a word.
func (j *Lexical) statements(s string) []string {
	var out []string
	for _, span := range text.Sentences(s) {
		sentence := strings.TrimSpace(s[span.Start:span.End])
		if len(j.words.Terms(sentence)) > 0 {
			out = append(out, sentence)
		}
	}
	return out
}

func (j *Lexical) allFeatures(statements []string) []features {
	out := make([]features, len(statements))
	for i, s := range statements {
		out[i] = j.features(s)
	}
	return out
}
