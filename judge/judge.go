// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"math"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Judge decides how good an answer is.
//
// A judgement that could not be obtained (the model's reply was unusable after all retries) is a [Verdict] in
// the state [Unscored] and no error. An error means that judging cannot continue: the context was cancelled,
// the budget is spent, the server refuses requests. A Judge is safe for concurrent use.
type Judge interface {
	// Name identifies the judge in reports: kind, profile, model and prompt version. Figures of judges with
	// different names do not compare.
	Name() string
	// Fact judges the answer to a question with one gold statement: Case.Reference.
	Fact(ctx context.Context, c Case) (FactJudgment, error)
	// Summary judges an answer against a set of gold statements: Case.Statements.
	Summary(ctx context.Context, c Case) (SummaryJudgment, error)
}

// Case is one answer to be judged.
type Case struct {
	// Question is the question, Answer the system's answer.
	Question string
	Answer   string
	// Refused is true when the system declined to answer.
	Refused bool
	// Type is the type of the question in its data set, for judges that distinguish types; may be empty.
	Type string
	// Reference is the gold statement of a fact question, Aliases are equivalent ones.
	Reference string
	Aliases   []string
	// Statements are the gold statements of a summary question.
	Statements []string
	// Evidence is the text behind the answer, for judges that show it.
	Evidence []string
}

// State is the kind of a [Verdict].
type State string

// The three states of a verdict.
const (
	Scored        State = "scored"
	Unscored      State = "unscored"       // a score exists, but could not be obtained
	NotApplicable State = "not_applicable" // there is nothing to score
)

// Verdict is a judge's decision on one item.
type Verdict struct {
	State State `json:"state"`
	// Value is in 0..1 and valid only in the state Scored.
	Value float64 `json:"value"`
	// Reason is the judge's reason for a score, or why there is none.
	Reason string `json:"reason,omitempty"`
}

// Score returns a scored verdict.
func Score(value float64, reason string) Verdict {
	return Verdict{State: Scored, Value: value, Reason: reason}
}

// NoScore returns an unscored verdict with its cause.
func NoScore(reason string) Verdict { return Verdict{State: Unscored, Reason: reason} }

// Cause returns the kind of an unscored verdict: its reason up to the first colon.
func (v Verdict) Cause() string {
	cause, _, _ := strings.Cut(v.Reason, ":")
	return cause
}

// FactJudgment is the verdict on a fact question: 1 if the answer is factually equivalent to the reference,
// else 0 (WildGraphBench, section 3.5).
type FactJudgment struct {
	Verdict
	// Grounded is 1 if the evidence supports every claim of the answer, else 0; empty without
	// [Options.Grounded], not applicable without evidence.
	Grounded Verdict `json:"grounded,omitzero"`
	// Scores are further figures of the answer, by names with their procedure, such as "f1/musique".
	Scores   map[string]Verdict `json:"scores,omitempty"`
	Protocol Protocol           `json:"protocol,omitzero"`
	Usage    graphrag.Usage     `json:"usage"`
}

// Protocol counts irregularities in the replies of a judge's model.
type Protocol struct {
	// Extra are verdicts under unknown ids, Duplicate are further verdicts under one id; they are discarded.
	Extra     int `json:"extra,omitempty"`
	Duplicate int `json:"duplicate,omitempty"`
	// Missing are the ids without a usable verdict in a reply.
	Missing int `json:"missing,omitempty"`
	// Canaries are the control items, FailedCanaries the ones with a wrong verdict.
	Canaries       int `json:"canaries,omitempty"`
	FailedCanaries int `json:"failed_canaries,omitempty"`
	// Failures are the calls without a usable reply.
	Failures int `json:"failures,omitempty"`
}

// Plus returns the sum of both.
func (p Protocol) Plus(o Protocol) Protocol {
	p.Extra += o.Extra
	p.Duplicate += o.Duplicate
	p.Missing += o.Missing
	p.Canaries += o.Canaries
	p.FailedCanaries += o.FailedCanaries
	p.Failures += o.Failures
	return p
}

// SummaryJudgment is the verdict on a summary question.
type SummaryJudgment struct {
	// Predicted are the statements found in the answer; Truncated reports that their limit cut some off.
	Predicted []string `json:"predicted,omitempty"`
	Truncated bool     `json:"truncated,omitempty"`
	// Matches lists the pairs of gold and predicted statements in a verdict, sorted: equivalent pairs, or
	// predicted statements that state the gold one together; empty for judges that compare against whole
	// texts.
	Matches []Match `json:"matches,omitempty"`
	// Recall and Precision are equations 2 and 3 of WildGraphBench.
	Recall    Verdict `json:"recall"`
	Precision Verdict `json:"precision"`
	// Ceiling is the precision of an answer that meets every gold statement by one predicted statement and
	// has no others: the quotient of their numbers, at most 1.
	Ceiling Verdict `json:"ceiling,omitzero"`
	// Grounded is as in [FactJudgment].
	Grounded Verdict `json:"grounded,omitzero"`
	// Counts are the numbers behind recall and precision.
	Counts   Counts         `json:"counts,omitzero"`
	Protocol Protocol       `json:"protocol,omitzero"`
	Usage    graphrag.Usage `json:"usage"`
}

// Counts are numbers of statements. A pair is zero if its figure is not scored.
type Counts struct {
	Gold         int `json:"gold"`
	GoldMet      int `json:"gold_met"`
	Predicted    int `json:"predicted"`
	PredictedMet int `json:"predicted_met"`
}

// Match is one pair of indices into the gold and the predicted statements.
type Match struct {
	Gold      int `json:"gold"`
	Predicted int `json:"predicted"`
}

// F1 returns the harmonic mean of precision and recall: scored if both are, 0 if both are 0.
func (s SummaryJudgment) F1() Verdict {
	switch {
	case s.Recall.State == Scored && s.Precision.State == Scored:
		a, b := s.Recall.Value, s.Precision.Value
		return Score(2*a*b/max(a+b, math.SmallestNonzeroFloat64), "")
	case s.Recall.State == Unscored:
		return s.Recall
	case s.Precision.State == Unscored:
		return s.Precision
	default:
		return Verdict{State: NotApplicable}
	}
}

// Options of the judges; the zero value asks only for the verdict.
type Options struct {
	// Grounded also asks whether the evidence supports all of the answer: one more request, which shows the
	// evidence.
	Grounded bool
}
