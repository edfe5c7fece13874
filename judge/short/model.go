// SPDX-License-Identifier: Apache-2.0

package short

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/vector"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/protocol"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("judge-short", promptFiles)

// ask asks the model how far the answer agrees with the gold answer, and returns the score if the reply is one
// of values ([readScore]). After any other reply it asks once more, naming the fault; then the answer is
// unscored.
func (j *Judge) ask(ctx context.Context, name string, c judge.Case, t *protocol.Trace, values ...float64) (judge.Verdict, error) {
	gold := protocol.Plain(c.Reference)
	for _, alias := range c.Aliases {
		gold += "\nor: " + protocol.Plain(alias)
	}
	req, err := templates.Request(ctx, "judge-"+name, name, nil,
		prompts.Data{Label: "question", Text: protocol.Plain(c.Question)},
		prompts.Data{Label: "gold", Text: gold},
		prompts.Data{Label: "answer", Text: protocol.Plain(c.Answer)})
	if err != nil {
		return judge.Verdict{}, err
	}
	for again := false; ; again = true {
		reply, err := j.model.Generate(ctx, req)
		t.Charge(reply.Usage, err)
		if err != nil {
			return t.Failure(ctx, err)
		}
		if value, ok := readScore(reply.Text); ok && slices.Contains(values, value) {
			return judge.Score(value, ""), nil
		}
		if again {
			return t.Failure(ctx, &llm.Error{Kind: llm.ErrInvalidOutput, Err: fmt.Errorf("the reply %.40q is no score", reply.Text)})
		}
		req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.Assistant, Text: display.Head(reply.Text, shownAgain)}, llm.Message{
			Role: llm.User, Text: fmt.Sprintf("That reply is none of %s. Reply with one of them alone.", strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]")),
		})
	}
}

// These match a score as models write it: at the start, alone or before a dash, a comma or a colon with the
// reason; or after its name, as in "Verdict: 1" and {"score": 1}.
var (
	scoreFirst = regexp.MustCompile(`^[\s*_"'(\[` + "`" + `]*([01](?:\.[05])?)[*_"')\]` + "`" + `]*\.?\s*(?:$|\n|[-–—:,;(]\s*[^\s\d])`)
	scoreNamed = regexp.MustCompile(`(?im)(?:^|[{,.;])[\s*_#>"']*(?:(?:the|my|final) )*(?:score|verdict|grade|mark|rating|judge?ment|correct|urteil|bewertung|note|punktzahl|puntuación|评分|得分|分数|判断)["'*_]*\s*(?:[:=：]|is)[\s"'*_]*([01](?:\.[05])?|true|false)["'*_]*\.?[ \t]*(?:$|[},;–—-])`)
)

// readScore reads the score in a reply; ok is false if there is none, or several that differ.
func readScore(reply string) (score float64, ok bool) {
	words := scoreFirst.FindStringSubmatch(reply)
	if words != nil {
		words = words[1:]
	} else {
		for _, found := range scoreNamed.FindAllStringSubmatch(reply, -1) {
			words = append(words, found[1])
		}
	}
	for i, word := range words {
		value, err := strconv.ParseFloat(strings.NewReplacer("true", "1", "false", "0").Replace(strings.ToLower(word)), 64)
		if err != nil || i > 0 && value != score {
			return 0, false
		}
		score = value
	}
	return score, len(words) > 0
}

// shownAgain is the number of bytes of an unusable reply that the second request shows.
const shownAgain = 500

// byModel adds to out the scores of a scheme that need a model. They are 0 without a call for an empty answer,
// and not applicable without a model.
func (j *Judge) byModel(ctx context.Context, c judge.Case, s Scheme, silent bool, out map[string]judge.Verdict, t *protocol.Trace) error {
	wanted := map[string]bool{
		"graded": s.Graded, "factuality": s.Statements, "correctness": s.Statements && j.o.Embedder != nil,
		"coverage": s.Coverage, "faithfulness": s.Faithful,
	}
	for name, want := range wanted {
		switch {
		case !want:
		case j.model == nil:
			out[name] = judge.Verdict{State: judge.NotApplicable, Reason: "needs a model"}
		case name == "faithfulness" && (silent || protocol.Blank(strings.Join(c.Evidence, ""))):
			out[name] = judge.Verdict{State: judge.NotApplicable, Reason: "no answer or no evidence"}
		case silent:
			out[name] = judge.Score(0, "no answer")
		}
	}
	if j.model == nil || silent {
		return nil
	}
	if s.Graded {
		v, err := j.ask(ctx, "grade", c, t, 0, 0.5, 1)
		if err != nil {
			return err
		}
		out["graded"] = v
	}
	if !s.Statements && !s.Coverage && !s.Faithful {
		return nil
	}
	err := j.statements(ctx, c, s, out, t)
	if err == nil {
		return nil
	}
	v, err := t.Failure(ctx, err)
	for name, want := range wanted { // the scores that are not in out yet
		if _, there := out[name]; err == nil && want && !there {
			out[name] = v
		}
	}
	return err
}

// statements adds the scores that compare the statements of the answer with the gold answer and with the
// evidence.
func (j *Judge) statements(ctx context.Context, c judge.Case, s Scheme, out map[string]judge.Verdict, t *protocol.Trace) error {
	gold := c
	gold.Answer = c.Reference
	wanted, _, err := j.asker.Split(ctx, gold, protocol.MaxStatements, t)
	if err != nil {
		return err
	}
	covered, err := j.asker.Support(ctx, []string{c.Answer}, wanted, t)
	if err != nil {
		return err
	}
	if s.Coverage {
		out["coverage"] = share(covered, len(wanted), "no statement in the gold answer")
	}
	if !s.Statements && !s.Faithful {
		return nil
	}
	made, _, err := j.asker.Split(ctx, c, protocol.MaxStatements, t)
	if err != nil {
		return err
	}
	if s.Statements {
		if err := j.correctness(ctx, c, made, len(wanted)-covered, out, t); err != nil {
			return err
		}
	}
	if s.Faithful && out["faithfulness"].State == "" {
		held, err := j.asker.Support(ctx, c.Evidence, made, t)
		if err != nil {
			return err
		}
		out["faithfulness"] = share(held, len(made), "no statement in the answer")
	}
	return nil
}

// correctness adds factuality, from the statements of the answer that the gold answer supports or not and the
// number of gold statements it misses, and correctness if there is an embedder.
func (j *Judge) correctness(ctx context.Context, c judge.Case, made []string, missed int, out map[string]judge.Verdict, t *protocol.Trace) error {
	right, err := j.asker.Support(ctx, []string{c.Reference}, made, t)
	if err != nil {
		return err
	}
	f1 := countedF1(right, len(made)-right, missed)
	out["factuality"] = judge.Score(f1, fmt.Sprintf("%d of %d statements, %d missed", right, len(made), missed))
	if j.o.Embedder == nil {
		return nil
	}
	vectors, err := j.o.Embedder.EmbedDocuments(ctx, []string{c.Answer, c.Reference})
	if err == nil && (len(vectors) != 2 || len(vectors[0]) != len(vectors[1])) {
		err = errors.New("judge: the embedder did not return two vectors of one length")
	}
	if err != nil {
		return err
	}
	cosine := vector.Cosine(vectors[0], vectors[1])
	if math.IsNaN(cosine) {
		return errors.New("judge: the embedder returned a vector with a component that is not a number")
	}
	out["correctness"] = judge.Score(weighted(f1, cosine), "")
	return nil
}

// countedF1 returns the F1 of numbers of true and false positives and false negatives; 1 if all are 0.
func countedF1(truePositives, falsePositives, falseNegatives int) float64 {
	all := 2*truePositives + falsePositives + falseNegatives
	if all == 0 {
		return 1
	}
	return 2 * float64(truePositives) / float64(all)
}

// weighted adds three quarters of factuality and a quarter of the cosine of answer and gold answer, mapped to
// 0..1 (arXiv 2506.05690, the released evaluation).
func weighted(factuality, cosine float64) float64 {
	return 0.75*factuality + 0.25*(1+min(max(cosine, -1), 1))/2
}

// maxWords is the number of words of an answer that are judged, by the rules of the LiveRAG challenge.
const maxWords = 300

// liveRAGVersion changes with every prompt and rule of the LiveRAG judge.
const liveRAGVersion = 3

// correctness returns a score from -1 to 2 for a coverage and a relevance from 0 to 1: -1 for coverage 0, and
// for coverage 1 the sum of 1 and the relevance.
func correctness(coverage, relevance float64) float64 { return -1 + coverage*(2+relevance) }

// CorrectnessPoints converts a value, or a mean of values, of a [LiveRAG] judge to correctness, -1 to 2.
func CorrectnessPoints(value float64) float64 { return 3*value - 1 }

// FaithfulnessPoints converts the share of supported statements, or a mean of shares, to faithfulness, -1 to
// 1.
func FaithfulnessPoints(supported float64) float64 { return 2*supported - 1 }

var liveRAGInfo = judge.Info{Profile: "liverag", Kind: judge.KindModel, ReadsEvidence: true, Scales: &judge.Scales{
	Title: "Scales of the LiveRAG challenge", Row: "gear, published",
	Note: "Published row: arXiv 2507.17399, on other data: FineWeb-10BT and the challenge's questions.",
	Columns: []judge.Scale{
		{Title: "Correctness (-1 to 2)", Points: CorrectnessPoints, Published: 0.876},
		{Title: "Faithfulness (-1 to 1)", Score: "faithfulness", Points: FaithfulnessPoints, Published: 0.529},
	},
}}

// LiveRAGProcedure makes judges that use the scales of the LiveRAG challenge.
var LiveRAGProcedure = judge.Procedure{Info: liveRAGInfo, NeedsModel: true, New: func(p judge.Parts) (judge.Judge, error) { return NewLiveRAG(p.Model) }}

// LiveRAG is a [judge.Judge] that uses the scales of the LiveRAG challenge (SIGIR 2025), by which GeAR reports
// 0.876 for correctness and 0.529 for faithfulness (arXiv 2507.17399). Only the first 300 words of an answer
// are read.
//
// Correctness goes from -1 to 2: 2 for an answer that is right and contains nothing else, 1 for a right answer
// with irrelevant parts, 0 for no answer, -1 for a wrong one. It combines coverage, the share of the gold
// answer's statements that the answer gives, and relevance, the share of its own statements that are relevant
// to the question. Faithfulness goes from -1 to 1: 1 if the passages support every statement of the answer, -1
// if they support none.
//
// The challenge defines the ends and the middle of the scales; the linear interpolation and all prompts are
// ours. Answers are split, and control items added, as in the other judges by model. An unusable reply leaves
// an answer unscored.
//
// The value of a verdict is the correctness mapped to 0..1, so that an empty answer gets a third; the score
// named faithfulness is the share of supported statements. [CorrectnessPoints] and [FaithfulnessPoints] convert
// values, and means of values, to the challenge's numbers.
//
// It is safe for concurrent use.
type LiveRAG struct{ asker protocol.Asker }

var _ judge.Judge = LiveRAG{}

// NewLiveRAG returns a judge that asks m.
func NewLiveRAG(m llm.Model) (LiveRAG, error) {
	e, err := protocol.New(m, liveRAGInfo.Profile, liveRAGVersion, judge.Options{})
	return LiveRAG{e}, err
}

// Name returns the procedure and the model.
func (j LiveRAG) Name() string { return j.asker.Name() }

// Info describes the procedure.
func (j LiveRAG) Info() judge.Info { return liveRAGInfo }

// shares are the numbers of statements from which the scores are computed.
type shares struct {
	statements []string // statements of the answer
	truncated  bool
	gold, met  int // number of statements of the gold answer, and of those in the answer
	relevant   int // number of the answer's statements that are relevant to the question
}

// Fact judges an answer by its gold answer. The value is the correctness, mapped from -1..2 to 0..1; coverage,
// relevance and faithfulness, each 0 to 1, are further scores. An empty answer gets the value 1/3 without a
// call.
func (j LiveRAG) Fact(ctx context.Context, c judge.Case) (out judge.FactJudgment, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	var t protocol.Trace
	defer func() { out.Protocol, out.Usage = t.Protocol, t.Usage }()
	c.Answer = first(c.Answer, maxWords)
	out.Scores = make(map[string]judge.Verdict)
	if v, done := c.Silent(); done {
		scoreSilent(&out, v.Reason)
		return out, nil
	}
	if protocol.Blank(c.Reference) {
		out.Verdict = judge.Verdict{State: judge.NotApplicable, Reason: "no gold answer"}
		return out, nil
	}
	s, err := j.counts(ctx, c, nil, &t)
	if err != nil {
		v, err := t.Failure(ctx, err)
		for _, name := range []string{"coverage", "relevance", "faithfulness"} {
			out.Scores[name] = v
		}
		out.Verdict = v
		return out, err
	}
	switch {
	case len(s.statements) == 0:
		scoreSilent(&out, "no statement in the answer")
		return out, nil
	case s.gold == 0:
		out.Verdict = judge.NoScore("the gold answer holds no statement")
	default:
		coverage, relevance := share(s.met, s.gold, ""), share(s.relevant, len(s.statements), "")
		out.Scores["coverage"], out.Scores["relevance"] = coverage, relevance
		points := correctness(coverage.Value, relevance.Value)
		out.Verdict = judge.Score((points+1)/3, fmt.Sprintf("%.2f of -1 to 2: %s given, %s relevant", points, coverage.Reason, relevance.Reason))
	}
	out.Scores["faithfulness"], err = j.faithful(ctx, c, &s, &t)
	return out, err
}

// scoreSilent sets the judgment of an answer without statements.
func scoreSilent(out *judge.FactJudgment, reason string) {
	none := judge.Verdict{State: judge.NotApplicable, Reason: reason}
	out.Verdict = judge.Score(1./3, reason+": 0 of -1 to 2")
	out.Scores["coverage"], out.Scores["relevance"], out.Scores["faithfulness"] = judge.Score(0, reason), none, none
}

// Summary judges an answer by gold statements: the recall is the coverage, and the precision the relevance.
func (j LiveRAG) Summary(ctx context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	if err := ctx.Err(); err != nil {
		return judge.SummaryJudgment{}, err
	}
	c.Answer = first(c.Answer, maxWords)
	out, done, err := protocol.WithoutSummary(c)
	if done {
		return out, err
	}
	var t protocol.Trace
	s, err := j.counts(ctx, c, c.Statements, &t)
	switch {
	case err != nil:
		out.Recall, err = t.Failure(ctx, err)
		out.Precision = out.Recall
	case len(s.statements) == 0:
		protocol.NoStatement(&out, c)
	default:
		out.Predicted, out.Truncated = s.statements, s.truncated
		protocol.Recall(&out, s.met, s.gold)
		protocol.Precision(&out, s.relevant)
	}
	out.Protocol, out.Usage = t.Protocol, t.Usage
	return out, err
}

// faithful returns the share of the answer's statements that the evidence supports.
func (j LiveRAG) faithful(ctx context.Context, c judge.Case, s *shares, t *protocol.Trace) (judge.Verdict, error) {
	if v, none := protocol.Ungrounded(c); none {
		return v, nil
	}
	held, err := j.asker.Support(ctx, c.Evidence, s.statements, t)
	if err != nil {
		return t.Failure(ctx, err)
	}
	return share(held, len(s.statements), ""), nil
}

// counts splits the answer into statements, and asks the model which gold statements the answer supports and
// which of its own are relevant. If gold is nil, the reference is split into the gold statements.
func (j LiveRAG) counts(ctx context.Context, c judge.Case, gold []string, t *protocol.Trace) (s shares, err error) {
	s.statements, s.truncated, err = j.asker.Split(ctx, c, protocol.MaxStatements, t)
	if err != nil || len(s.statements) == 0 {
		return s, err
	}
	if gold == nil {
		of := c
		of.Answer = c.Reference
		if gold, _, err = j.asker.Split(ctx, of, protocol.MaxStatements, t); err != nil {
			return s, err
		}
	}
	if s.gold = len(gold); s.gold == 0 {
		return s, nil
	}
	if s.met, err = j.asker.Support(ctx, []string{c.Answer}, gold, t); err != nil {
		return s, err
	}
	s.relevant, err = j.relevant(ctx, protocol.Plain(c.Question), protocol.PlainAll(s.statements), t)
	return s, err
}

// relevant asks the model which statements are relevant to the question, and returns their number. One control
// item pairs a fact with the question that it answers, the other pairs it with this question.
func (j LiveRAG) relevant(ctx context.Context, question string, statements []string, t *protocol.Trace) (int, error) {
	texts := append([]string{question}, statements...)
	seed := prompts.NewFence(texts...).Nonce()
	know := protocol.ChooseCanary(seed, texts...)
	ask := func(open []protocol.Item) llm.Request {
		parts := make([][2]string, len(open))
		var shown []string
		for i, it := range open {
			parts[i] = [2]string{question, it.Pick(statements, know.Restated, know.Restated)}
			if it.Index == protocol.True {
				parts[i][0] = know.Question
			}
			shown = append(shown, parts[i][:]...)
		}
		f := prompts.NewFence(shown...)
		var tasks strings.Builder
		for i, it := range open {
			tasks.WriteString("\nTask " + it.ID + "\n" + f.Wrap("question", parts[i][0]) + "\n" + f.Wrap("statement", parts[i][1]) + "\n")
		}
		return protocol.Request(templates, "judge-relevant", "relevant", map[string]any{"Nonce": f.Nonce(), "Tasks": tasks.String()})
	}
	return j.asker.Yes(ctx, protocol.NewBatch("r", seed, len(statements), protocol.True, protocol.False), t, ask)
}

// first returns the first n words of a text.
func first(s string, n int) string {
	if words := strings.Fields(s); len(words) > n {
		return strings.Join(words[:n], " ")
	}
	return s
}
