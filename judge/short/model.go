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

// ask asks whether, or how far, the answer agrees with the gold answer, and returns a score if the reply is
// one of some values ([readScore]). Any other reply is requested once more, with the fault named, and is then
// unscored: a guess would be a score.
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
			return t.Failure(ctx, &llm.Error{Kind: llm.ErrInvalidOutput, Err: fmt.Errorf("the reply is %.40q", reply.Text)})
		}
		req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.Assistant, Text: display.Head(reply.Text, shownAgain)}, llm.Message{
			Role: llm.User, Text: fmt.Sprintf("That reply is none of %s. Reply with one of them alone.", strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]")),
		})
	}
}

// The spellings of a score by models: alone in the first line or before a dash, a comma or a colon with the
// reason, or after its name, as in "Verdict: 1" and {"score": 1}.
var (
	scoreFirst = regexp.MustCompile(`^[\s*_"'(\[` + "`" + `]*([01](?:\.[05])?)[*_"')\]` + "`" + `]*\.?\s*(?:$|\n|[-–—:,;(]\s*[^\s\d])`)
	scoreNamed = regexp.MustCompile(`(?im)(?:^|[{,.;])[\s*_#>"']*(?:(?:the|my|final) )*(?:score|verdict|grade|mark|rating|judge?ment|correct|urteil|bewertung|note|punktzahl|puntuación|评分|得分|分数|判断)["'*_]*\s*(?:[:=：]|is)[\s"'*_]*([01](?:\.[05])?|true|false)["'*_]*\.?[ \t]*(?:$|[},;–—-])`)
)

// readScore reads the only score of a reply. A reply with several different ones has none.
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

// shownAgain is the part of an unusable reply that the model is shown, in bytes.
const shownAgain = 500

// byModel adds the scores of a scheme that need a model. For an empty answer they are 0, without a call;
// without a model they are not applicable.
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
	for name, want := range wanted { // those that are still to be obtained
		if _, there := out[name]; err == nil && want && !there {
			out[name] = v
		}
	}
	return err
}

// statements compares the statements of the answer with the gold answer in both directions, and with the
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

// correctness uses the true and false positives among the statements of the answer, and the gold statements
// it misses.
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
		err = errors.New("judge: the embedder gave no two vectors of one length")
	}
	if err != nil {
		return err
	}
	cosine := vector.Cosine(vectors[0], vectors[1])
	if math.IsNaN(cosine) {
		return errors.New("judge: the embedder gave a vector with what is no number")
	}
	out["correctness"] = judge.Score(weighted(f1, cosine), "")
	return nil
}

// countedF1 returns the F1 of true and false positives and false negatives; 1 if all are 0.
func countedF1(truePositives, falsePositives, falseNegatives int) float64 {
	all := 2*truePositives + falsePositives + falseNegatives
	if all == 0 {
		return 1
	}
	return 2 * float64(truePositives) / float64(all)
}

// weighted combines factuality and the similarity of two texts, three quarters and a quarter, with the cosine
// mapped to 0..1 (arXiv 2506.05690, the released evaluation).
func weighted(factuality, cosine float64) float64 {
	return 0.75*factuality + 0.25*(1+min(max(cosine, -1), 1))/2
}
