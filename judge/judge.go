// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/llm"
)

// Judge decides how good an answer is.
//
// If a judgment cannot be obtained, because the model's replies are unusable, the [Verdict] has the state
// [Unscored], and there is no error. An error means that judging cannot continue: the context was cancelled,
// the budget is spent, the server refuses requests. A Judge is safe for concurrent use.
type Judge interface {
	// Name identifies the judge in reports: kind, profile, model and prompt version. Figures of judges with
	// different names cannot be compared.
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
	// Reference is the gold statement of a fact question; Aliases are equivalent gold statements.
	Reference string
	Aliases   []string
	// Statements are the gold statements of a summary question.
	Statements []string
	// Evidence has the texts from which the answer was written, for judges that show them to a model.
	Evidence []string
}

// State is the kind of a [Verdict].
type State string

// The three states of a verdict.
const (
	Scored        State = "scored"
	Unscored      State = "unscored"       // the answer should have a score, but judging failed
	NotApplicable State = "not_applicable" // there is nothing to score, as Reason explains
)

// Verdict is a judge's decision on one item.
type Verdict struct {
	State State `json:"state"`
	// Value is in 0..1 and valid only in the state Scored.
	Value float64 `json:"value"`
	// Reason is the judge's reason for the score, or says why there is no score.
	Reason string `json:"reason,omitempty"`
}

// Score returns a scored verdict.
func Score(value float64, reason string) Verdict {
	return Verdict{State: Scored, Value: value, Reason: reason}
}

// NoScore returns an unscored verdict with its reason.
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
	// Grounded is 1 if the evidence supports every claim of the answer, else 0. It is empty without
	// [Options.Grounded], and not applicable without evidence.
	Grounded Verdict `json:"grounded,omitzero"`
	// Scores are further figures of the answer, by names that contain their procedure, such as "f1/musique".
	Scores   map[string]Verdict `json:"scores,omitempty"`
	Protocol Protocol           `json:"protocol,omitzero"`
	Usage    graphrag.Usage     `json:"usage"`
}

// Protocol counts irregularities in the replies of a judge's model.
type Protocol struct {
	// Extra counts verdicts with unknown ids, Duplicate repeated verdicts; both are discarded.
	Extra     int `json:"extra,omitempty"`
	Duplicate int `json:"duplicate,omitempty"`
	// Missing is the number of ids for which a reply had no usable verdict.
	Missing int `json:"missing,omitempty"`
	// Canaries is the number of verdicts on control items, FailedCanaries the number of wrong ones.
	Canaries       int `json:"canaries,omitempty"`
	FailedCanaries int `json:"failed_canaries,omitempty"`
	// Failures is the number of calls without a usable reply.
	Failures int `json:"failures,omitempty"`
}

// Plus returns the sum of p and o.
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
	// Predicted are the statements found in the answer; Truncated is true if a limit cut some off.
	Predicted []string `json:"predicted,omitempty"`
	Truncated bool     `json:"truncated,omitempty"`
	// Matches lists, sorted, the pairs of a gold statement and a predicted one that states it, alone or
	// together with others. It is empty for judges that compare statements with whole texts.
	Matches []Match `json:"matches,omitempty"`
	// Recall and Precision are equations 2 and 3 of WildGraphBench.
	Recall    Verdict `json:"recall"`
	Precision Verdict `json:"precision"`
	// Ceiling is the best possible precision if each gold statement is met by one predicted statement: the gold
	// statements divided by the predicted ones, at most 1.
	Ceiling Verdict `json:"ceiling,omitzero"`
	// Grounded has the meaning it has in [FactJudgment].
	Grounded Verdict `json:"grounded,omitzero"`
	// Counts are the numbers behind recall and precision.
	Counts   Counts         `json:"counts,omitzero"`
	Protocol Protocol       `json:"protocol,omitzero"`
	Usage    graphrag.Usage `json:"usage"`
}

// Counts are the numbers of statements, and of met ones, behind recall and precision; 0 if these are not
// scored.
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

// F1 returns the harmonic mean of precision and recall. It is scored if both are scored, and 0 if both are 0.
func (s SummaryJudgment) F1() Verdict {
	switch {
	case s.Recall.State == Scored && s.Precision.State == Scored:
		return Score(HarmonicMean(s.Recall.Value, s.Precision.Value), "")
	case s.Recall.State == Unscored:
		return s.Recall
	case s.Precision.State == Unscored:
		return s.Precision
	default:
		return Verdict{State: NotApplicable}
	}
}

// HarmonicMean returns 2ab/(a+b), and 0 if both are 0.
func HarmonicMean(a, b float64) float64 { return 2 * a * b / max(a+b, math.SmallestNonzeroFloat64) }

// Options of the judges; the zero value asks only for the verdict.
type Options struct {
	// Grounded also judges whether the evidence supports all of the answer. A model gets one more request,
	// which shows the evidence.
	Grounded bool
}

// Kind is the basis of verdicts. Figures of different kinds cannot be compared.
type Kind string

// The kinds of judges.
const (
	KindWords      Kind = "words"      // rules compare words, and do not recognize right answers in other words
	KindExact      Kind = "exact"      // rules compare answers of a fixed form
	KindEntailment Kind = "entailment" // a small model decides whether one text follows from another
	KindModel      Kind = "model"      // a language model decides
	KindOther      Kind = ""           // a judge from outside of the library
)

// Info describes a judge to programs and reports.
type Info struct {
	// Profile names the procedure in flags, folders and reports.
	Profile string
	Kind    Kind
	// Published is true for procedures that published figures used, with a model.
	Published bool
	// ReadsEvidence is true if the judge reads Evidence of a [Case].
	ReadsEvidence bool
	// Scales show the judge's figures in the units of a publication; nil if there is none.
	Scales *Scales
}

// Scales describe a table of figures in the units of a publication, with a row of the published figures.
type Scales struct {
	// Row is the name of the published system; Note describes its figures.
	Title, Row, Note string
	Columns          []Scale
}

// Scale is a column of [Scales].
type Scale struct {
	// Title of the column includes the range. Score is a key of [FactJudgment].Scores; "" is the verdict.
	Title, Score string
	// Points converts a value in 0..1, or a mean of values, to the published units.
	Points    func(float64) float64
	Published float64
}

// InfoOf returns what the judge's method Info() Info returns; a judge without this method has [KindOther].
func InfoOf(j Judge) Info {
	if d, ok := j.(interface{ Info() Info }); ok {
		return d.Info()
	}
	return Info{}
}

// Parts are the models that a judge may use; any may be nil.
type Parts struct {
	Options
	Model    llm.Model
	Embedder llm.Embedder
	Entailer Entailer
}

// Procedure makes the judges of a profile. A data set lists its procedures.
type Procedure struct {
	Info
	// NeedsModel and NeedsEntailer are true if the judge needs this one of the [Parts].
	NeedsModel, NeedsEntailer bool
	New                       func(Parts) (Judge, error)
}

// Possible reports whether the parts include what the procedure needs.
func (p Procedure) Possible(by Parts) bool {
	return (by.Model != nil || !p.NeedsModel) && (by.Entailer != nil || !p.NeedsEntailer)
}

// Silent returns the verdict 0 and true if the system refused or gave an empty answer, else false.
func (c Case) Silent() (Verdict, bool) {
	switch {
	case c.Refused:
		return Score(0, "refused"), true
	case !strings.ContainsFunc(c.Answer, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Mn, r) }):
		return Score(0, "empty answer"), true
	}
	return Verdict{}, false
}

// ByFunc returns a judge that uses a function: does the answer of a case state a gold statement? The verdict on
// a fact is the best one over reference and aliases; it is unscored if one of these is and none is 1. The
// recall of a summary is the share of its gold statements that are stated, unscored if one of them is; its
// precision is not applicable. Refused and empty answers get 0 without a call. The name must cover everything
// that figures depend on. states is called concurrently; its costs are not in the judgments.
func ByFunc(name string, states func(ctx context.Context, c Case, gold string) (Verdict, error)) Judge {
	return byFunc{name, Info{}, states}
}

type byFunc struct {
	name   string
	info   Info
	states func(context.Context, Case, string) (Verdict, error)
}

func (j byFunc) Name() string { return j.name }
func (j byFunc) Info() Info   { return j.info }

func (j byFunc) Fact(ctx context.Context, c Case) (out FactJudgment, err error) {
	v, done := c.Silent()
	if done {
		return FactJudgment{Verdict: v}, ctx.Err()
	}
	for _, gold := range append([]string{c.Reference}, c.Aliases...) {
		if v, err = j.states(ctx, c, gold); err != nil {
			return out, err
		}
		switch {
		case v.State == Scored && v.Value == 1:
			return FactJudgment{Verdict: v}, ctx.Err()
		case out.State == "" || v.State != Scored || out.State == Scored && v.Value > out.Value:
			out.Verdict = v
		}
	}
	return out, ctx.Err()
}

func (j byFunc) Summary(ctx context.Context, c Case) (out SummaryJudgment, err error) {
	out.Precision = Verdict{State: NotApplicable, Reason: "the judge compares gold statements alone"}
	out.Counts.Gold = len(c.Statements)
	v, done := c.Silent()
	switch {
	case len(c.Statements) == 0:
		out.Recall = Verdict{State: NotApplicable, Reason: "no gold statements"}
		return out, ctx.Err()
	case done:
		out.Recall = v
		return out, ctx.Err()
	}
	for _, gold := range c.Statements {
		if v, err = j.states(ctx, c, gold); err != nil {
			return out, err
		}
		if v.State != Scored {
			out.Recall, out.Counts.GoldMet = v, 0
			return out, ctx.Err()
		}
		if v.Value == 1 {
			out.Counts.GoldMet++
		}
	}
	out.Recall = Score(float64(out.Counts.GoldMet)/float64(out.Counts.Gold), "")
	return out, ctx.Err()
}

// Entailer decides whether a text entails other texts. [local.Entailment] is an implementation.
type Entailer interface {
	Name() string
	Entail(ctx context.Context, premise string, hypotheses []string) ([]local.Entailed, error)
}

// ByEntailment returns a judge that finds a gold statement in an answer if question and answer together entail
// it with a probability above one half.
func ByEntailment(e Entailer) Judge {
	return byFunc{"entailment/" + e.Name(), entailment, func(ctx context.Context, c Case, gold string) (Verdict, error) {
		p, err := e.Entail(ctx, c.Question+"\n"+c.Answer, []string{gold})
		if err != nil {
			return Verdict{}, fmt.Errorf("judge: ask the entailment model: %w", err)
		}
		value := 0.
		if p[0].Entails > .5 {
			value = 1
		}
		return Score(value, fmt.Sprintf("entailed with %.2f, contradicted with %.2f", p[0].Entails, p[0].Contradicts)), nil
	}}
}

var entailment = Info{Profile: "entailment", Kind: KindEntailment}

// Entailment is the procedure of [ByEntailment].
var Entailment = Procedure{Info: entailment, NeedsEntailer: true, New: func(p Parts) (Judge, error) { return ByEntailment(p.Entailer), nil }}
