// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	"embed"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/score"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

func request(stage, name string, values map[string]any) llm.Request {
	r, err := prompts.Request(stage, name, values)
	if err != nil {
		panic("paper: " + err.Error()) // the files are part of the program
	}
	r.JSON = true
	return r
}

func plainAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = score.Plain(s)
	}
	return out
}

// evidenceParts are the rule and the texts for judges that show what the
// answer was based on.
func evidenceParts(f llm.Fence, evidence []string) (rule, shown string) {
	if len(evidence) == 0 {
		return "", ""
	}
	var b strings.Builder
	for i, text := range evidence {
		b.WriteString("\n" + f.Wrap("evidence "+strconv.Itoa(i+1), text) + "\n")
	}
	return "\nThe evidence is what an answer was written from. Use it to resolve names, spellings\n" +
		"and dates; the reference alone decides what is true.\n", b.String()
}

// grade asks whether the answer states the reference.
func (j *Judge) grade(ctx context.Context, c judge.Case, t *score.Trace) (value int, reason string, err error) {
	question, reference, answer := score.Plain(c.Question), score.Plain(c.Reference), score.Plain(c.Answer)
	evidence := plainAll(c.Evidence)
	seed := llm.NewFence(append([]string{question, reference, answer}, evidence...)...).Nonce()
	know := chooseCanary(seed, question, reference, answer)
	ask := func(open []item) llm.Request {
		parts := make([][3]string, len(open))
		data := slices.Clone(evidence)
		for i, it := range open {
			switch it.index {
			case trueCanary:
				parts[i] = [3]string{know.Question, know.Fact, know.Restated}
			case falseCanary:
				parts[i] = [3]string{know.Question, know.Fact, know.Falsehood}
			default:
				parts[i] = [3]string{question, reference, answer}
			}
			data = append(data, parts[i][:]...)
		}
		f := llm.NewFence(data...)
		var tasks strings.Builder
		for i, it := range open {
			tasks.WriteString("\nTask " + it.id + "\n" + f.Wrap("question", parts[i][0]) + "\n" +
				f.Wrap("reference", parts[i][1]) + "\n" + f.Wrap("candidate", parts[i][2]) + "\n")
		}
		rule, shown := evidenceParts(f, evidence)
		return request("judge-fact", "fact", map[string]any{
			"Nonce": f.Nonce(), "Rule": rule, "Tasks": tasks.String(), "Evidence": shown,
		})
	}
	err = j.run(ctx, newBatch("t", seed, 1, j.canaries()...), t, ask, func(it item, l line) bool {
		n, ok := l.score()
		if !it.canary() {
			value, reason = n, score.Word(l.Reason)
			return ok
		}
		return ok && n == it.want()
	})
	return value, reason, err
}

// extract asks for the statements of the answer.
func (j *Judge) extract(ctx context.Context, c judge.Case, t *score.Trace) ([]string, error) {
	question, answer := score.Plain(c.Question), score.Plain(c.Answer)
	f := llm.NewFence(question, answer)
	ask := func(open []item) llm.Request {
		return request("judge-extract", "extract", map[string]any{
			"Nonce": f.Nonce(), "Limit": j.o.MaxStatements, "ID": open[0].id,
			"Question": f.Wrap("question", question), "Answer": f.Wrap("answer", answer),
		})
	}
	var found []string
	err := j.run(ctx, newBatch("a", f.Nonce(), 1), t, ask, func(_ item, l line) bool {
		found = l.Statements
		return found != nil
	})
	return found, err
}

// match asks for the matrix of matches.
func (j *Judge) match(ctx context.Context, c judge.Case, predicted []string, t *score.Trace) ([]judge.Match, error) {
	evidence := plainAll(c.Evidence)
	seed := llm.NewFence(slices.Concat(c.Statements, predicted, evidence)...).Nonce()
	know := chooseCanary(seed, slices.Concat(c.Statements, predicted)...)
	// The gold side has one more statement, which only the true canary says.
	gold := newBatch("g", seed, len(c.Statements), j.canaries()[:min(1, len(j.canaries()))]...)
	goldList := listed(gold.items, func(it item) string {
		return it.pick(func(i int) string { return c.Statements[i] }, know.Fact, "")
	})
	goldAt := make(map[string]int, len(gold.items))
	for _, it := range gold.items {
		goldAt[it.id] = it.index
	}
	ask := func(open []item) llm.Request {
		list := listed(open, func(it item) string {
			return it.pick(func(i int) string { return predicted[i] }, know.Restated, know.Falsehood)
		})
		f := llm.NewFence(append([]string{goldList, list}, evidence...)...)
		rule, shown := evidenceParts(f, evidence)
		return request("judge-match", "match", map[string]any{
			"Nonce": f.Nonce(), "Rule": rule, "Gold": f.Wrap("gold", goldList), "Predicted": f.Wrap("predicted", list), "Evidence": shown,
		})
	}
	found := make([][]judge.Match, len(predicted))
	crossed := false
	err := j.run(ctx, newBatch("p", seed, len(predicted), j.canaries()...), t, ask, func(it item, l line) bool {
		if l.Gold == nil {
			return false
		}
		var met []int
		for _, raw := range l.Gold {
			if g, ok := goldAt[strings.ToLower(score.Word(raw))]; ok {
				met = append(met, g)
			} else {
				t.Protocol.Extra++
			}
		}
		if it.canary() {
			return it.index == trueCanary && slices.Equal(met, []int{trueCanary}) || it.index == falseCanary && len(met) == 0
		}
		found[it.index] = nil
		for _, g := range met {
			crossed = crossed || g == trueCanary
			if g >= 0 {
				found[it.index] = append(found[it.index], judge.Match{Gold: g, Predicted: it.index})
			}
		}
		return true
	})
	if err == nil && crossed {
		t.Protocol.FailedCanaries++
		err = errCrossed
	}
	matches := slices.Concat(found...)
	slices.SortFunc(matches, compareMatches)
	return slices.Compact(matches), err
}

func compareMatches(a, b judge.Match) int {
	if a.Gold != b.Gold {
		return a.Gold - b.Gold
	}
	return a.Predicted - b.Predicted
}

// supported counts the statements that a text supports.
func (j *Judge) supported(ctx context.Context, text string, statements []string, t *score.Trace) (int, error) {
	text = score.Plain(text)
	seed := llm.NewFence(append([]string{text}, statements...)...).Nonce()
	know := chooseCanary(seed, append([]string{text}, statements...)...)
	if !j.o.NoCanaries {
		text += "\n\n" + know.Fact
	}
	ask := func(open []item) llm.Request {
		list := listed(open, func(it item) string {
			return it.pick(func(i int) string { return statements[i] }, know.Restated, know.Falsehood)
		})
		f := llm.NewFence(text, list)
		return request("judge-support", "support", map[string]any{
			"Nonce": f.Nonce(), "Text": f.Wrap("text", text), "Statements": f.Wrap("statements", list),
		})
	}
	scores := make([]int, len(statements))
	err := j.run(ctx, newBatch("s", seed, len(statements), j.canaries()...), t, ask, func(it item, l line) bool {
		n, ok := l.score()
		if it.canary() {
			return ok && n == it.want()
		}
		scores[it.index] = n
		return ok
	})
	held := 0
	for _, n := range scores {
		held += n
	}
	return held, err
}
