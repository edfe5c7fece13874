// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Judge decides how good an answer is.
//
// A judgement that could not be obtained (the model's reply was unusable after all
// retries) is a [Verdict] in the state [Unscored] and no error. An error means
// that judging cannot go on: the context was cancelled, the budget is spent,
// the server refuses us. A Judge is safe for concurrent use.
type Judge interface {
	// Name identifies the judge in reports: kind, profile, model and prompt
	// version. Figures of judges with different names do not compare.
	Name() string
	// Fact judges the answer to a question with one gold statement:
	// Case.Reference.
	Fact(ctx context.Context, c Case) (FactJudgment, error)
	// Summary judges an answer against a set of gold statements:
	// Case.Statements.
	Summary(ctx context.Context, c Case) (SummaryJudgment, error)
}

// Case is one answer to be judged.
type Case struct {
	// Question is the question that was asked, Answer what the system said.
	Question string
	Answer   string
	// Refused is true when the system declined to answer.
	Refused bool
	// Type is the type of the question by the name its data set has for it, for
	// judges that judge types differently; may be empty.
	Type string
	// Reference is the gold statement of a fact question, Aliases are others that
	// say the same.
	Reference string
	Aliases   []string
	// Statements are the gold statements of a summary question.
	Statements []string
	// Evidence is the text the answer was given, for judges that show it.
	Evidence []string
}

// State is the kind of a [Verdict].
type State string

// The three states of a verdict.
const (
	Scored        State = "scored"
	Unscored      State = "unscored"       // there is a score, but it could not be had
	NotApplicable State = "not_applicable" // there is nothing to score
)

// Verdict is a judge's word on one thing.
type Verdict struct {
	State State `json:"state"`
	// Value is in 0..1 and means something only in the state Scored.
	Value float64 `json:"value"`
	// Reason says why: the judge's reason for a score, or the cause that
	// there is none.
	Reason string `json:"reason,omitempty"`
}

// Score is a scored verdict.
func Score(value float64, reason string) Verdict {
	return Verdict{State: Scored, Value: value, Reason: reason}
}

// NoScore is an unscored verdict with its cause.
func NoScore(reason string) Verdict { return Verdict{State: Unscored, Reason: reason} }

// Cause is the kind of an unscored verdict: its reason up to the first colon.
func (v Verdict) Cause() string {
	cause, _, _ := strings.Cut(v.Reason, ":")
	return cause
}

// FactJudgment is the verdict on a fact question: 1 when the answer is
// factually equivalent to the reference, else 0 (WildGraphBench, section 3.5).
type FactJudgment struct {
	Verdict
	// Grounded is 1 when the evidence supports every claim of the answer, else 0;
	// empty without [Options.Grounded], not applicable without evidence.
	Grounded Verdict `json:"grounded,omitzero"`
	// Scores are further figures of the answer, by names that tell how they are
	// made, such as "f1/musique".
	Scores   map[string]Verdict `json:"scores,omitempty"`
	Protocol Protocol           `json:"protocol,omitzero"`
	Usage    graphrag.Usage     `json:"usage"`
}

// Protocol counts what was found in the replies of a model that judges.
type Protocol struct {
	// Extra are verdicts under ids that were not asked for, Duplicate are
	// further verdicts under an id that has one; they are discarded.
	Extra     int `json:"extra,omitempty"`
	Duplicate int `json:"duplicate,omitempty"`
	// Missing are the ids that a reply left without a usable verdict.
	Missing int `json:"missing,omitempty"`
	// Canaries are the control items asked, FailedCanaries those of them that
	// came out wrong.
	Canaries       int `json:"canaries,omitempty"`
	FailedCanaries int `json:"failed_canaries,omitempty"`
	// Failures are the calls without a usable reply.
	Failures int `json:"failures,omitempty"`
}

// Plus is the sum of both.
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
	// Predicted are the statements found in the answer; Truncated tells that
	// the limit on their number cut some off.
	Predicted []string `json:"predicted,omitempty"`
	Truncated bool     `json:"truncated,omitempty"`
	// Matches lists the pairs of gold and predicted statements that a verdict
	// names, sorted: pairs that say the same, or predicted statements that state
	// the gold one together; empty for judges that compare against whole texts.
	Matches []Match `json:"matches,omitempty"`
	// Recall and Precision are equations 2 and 3 of WildGraphBench.
	Recall    Verdict `json:"recall"`
	Precision Verdict `json:"precision"`
	// Ceiling is what precision comes to when every gold statement is met by one
	// predicted statement and nothing else is: their numbers' quotient, at most 1.
	Ceiling Verdict `json:"ceiling,omitzero"`
	// Grounded is as in [FactJudgment].
	Grounded Verdict `json:"grounded,omitzero"`
	// Counts are what recall and precision were computed from.
	Counts   Counts         `json:"counts,omitzero"`
	Protocol Protocol       `json:"protocol,omitzero"`
	Usage    graphrag.Usage `json:"usage"`
}

// Counts are numbers of statements. A pair is zero where its figure is not
// scored.
type Counts struct {
	Gold         int `json:"gold"`
	GoldMet      int `json:"gold_met"`
	Predicted    int `json:"predicted"`
	PredictedMet int `json:"predicted_met"`
}

// Match is one pair of a matrix of matches: indices into the gold and the
// predicted statements.
type Match struct {
	Gold      int `json:"gold"`
	Predicted int `json:"predicted"`
}

// F1 is the harmonic mean of precision and recall: scored when both are, 0
// when both are 0.
func (s SummaryJudgment) F1() Verdict {
	switch {
	case s.Recall.State == Scored && s.Precision.State == Scored:
		return Score(harmonicMean(s.Recall.Value, s.Precision.Value), "")
	case s.Recall.State == Unscored:
		return s.Recall
	case s.Precision.State == Unscored:
		return s.Precision
	default:
		return Verdict{State: NotApplicable}
	}
}

// harmonicMean is 2ab/(a+b), and 0 when both are 0.
func harmonicMean(a, b float64) float64 {
	if a+b == 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}

// MaxStatements is the largest number of statements taken from an
// answer, as in the released evaluator.
const MaxStatements = 20

// Options of the judges; the zero value asks nothing beside the verdict.
type Options struct {
	// Grounded asks of every answer as well whether the evidence supports all of
	// it: one request more, which shows the evidence.
	Grounded bool
}
