// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"embed"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts/*.txt
var prompts embed.FS

// prompt fills a template in one pass: what a text brings in is not searched
// for further places.
func prompt(name string, places ...string) string {
	text, err := prompts.ReadFile("prompts/" + name + ".txt")
	if err != nil {
		panic("judge: " + err.Error()) // the files are part of the program
	}
	return strings.NewReplacer(places...).Replace(string(text))
}

func request(stage, text string) llm.Request {
	r := llm.Prompt(text)
	r.JSON = true
	r.Stage = stage
	return r
}

// plain drops what a reader does not see and a model does: control and format
// characters (zero-width, direction, tags) and broken UTF-8. The two joiners
// stay, since scripts need them.
func plain(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x7f || r < ' ' && r != '\n' && r != '\t' }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\u200c', r == '\u200d':
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// blank reports whether a reader sees nothing.
func blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Mn, r)
	})
}

func plainAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = plain(s)
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
func (j *ByModel) grade(ctx context.Context, c Case, t *trace) (score int, reason string, err error) {
	question, reference, answer := plain(c.Question), plain(c.Reference), plain(c.Answer)
	evidence := plainAll(c.Evidence)
	seed := llm.NewFence(append([]string{question, reference, answer}, evidence...)...).Nonce()
	know := chooseCanary(seed, question, reference, answer)
	ask := func(open []item) llm.Request {
		parts := make([][3]string, len(open))
		data := slices.Clone(evidence)
		for i, it := range open {
			switch it.at {
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
		return request("judge-fact", prompt("fact",
			"{nonce}", f.Nonce(), "{evidence_rule}", rule, "{tasks}", tasks.String(), "{evidence}", shown))
	}
	err = j.run(ctx, newBatch("t", seed, 1, j.canaries()...), t, ask, func(it item, l line) bool {
		n, ok := l.score()
		if !it.canary() {
			score, reason = n, word(l.Reason)
			return ok
		}
		return ok && n == it.want()
	})
	return score, reason, err
}

// extract asks for the statements of the answer.
func (j *ByModel) extract(ctx context.Context, c Case, t *trace) ([]string, error) {
	question, answer := plain(c.Question), plain(c.Answer)
	f := llm.NewFence(question, answer)
	ask := func(open []item) llm.Request {
		return request("judge-extract", prompt("extract",
			"{nonce}", f.Nonce(), "{limit}", strconv.Itoa(j.o.MaxStatements), "{id}", open[0].id,
			"{question}", f.Wrap("question", question), "{answer}", f.Wrap("answer", answer)))
	}
	var found []string
	err := j.run(ctx, newBatch("a", f.Nonce(), 1), t, ask, func(_ item, l line) bool {
		found = l.Statements
		return found != nil
	})
	return found, err
}

// distinct drops empty and repeated statements and cuts the list at limit.
func distinct(statements []string, limit int) (kept []string, truncated bool) {
	for _, s := range statements {
		if s = strings.TrimSpace(s); !blank(s) && !slices.Contains(kept, s) {
			if len(kept) == limit {
				return kept, true
			}
			kept = append(kept, s)
		}
	}
	return kept, false
}

// match asks for the matrix of matches.
func (j *ByModel) match(ctx context.Context, c Case, predicted []string, t *trace) ([]Match, error) {
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
		goldAt[it.id] = it.at
	}
	ask := func(open []item) llm.Request {
		list := listed(open, func(it item) string {
			return it.pick(func(i int) string { return predicted[i] }, know.Restated, know.Falsehood)
		})
		f := llm.NewFence(append([]string{goldList, list}, evidence...)...)
		rule, shown := evidenceParts(f, evidence)
		return request("judge-match", prompt("match",
			"{nonce}", f.Nonce(), "{evidence_rule}", rule,
			"{gold}", f.Wrap("gold", goldList), "{predicted}", f.Wrap("predicted", list), "{evidence}", shown))
	}
	found := make([][]Match, len(predicted))
	crossed := false
	err := j.run(ctx, newBatch("p", seed, len(predicted), j.canaries()...), t, ask, func(it item, l line) bool {
		if l.Gold == nil {
			return false
		}
		var met []int
		for _, raw := range l.Gold {
			if g, ok := goldAt[strings.ToLower(word(raw))]; ok {
				met = append(met, g)
			} else {
				t.protocol.Extra++
			}
		}
		if it.canary() {
			return it.at == trueCanary && slices.Equal(met, []int{trueCanary}) || it.at == falseCanary && len(met) == 0
		}
		found[it.at] = nil
		for _, g := range met {
			crossed = crossed || g == trueCanary
			if g >= 0 {
				found[it.at] = append(found[it.at], Match{Gold: g, Predicted: it.at})
			}
		}
		return true
	})
	if err == nil && crossed {
		t.protocol.FailedCanaries++
		err = errCrossed
	}
	matches := slices.Concat(found...)
	slices.SortFunc(matches, compareMatches)
	return slices.Compact(matches), err
}

func compareMatches(a, b Match) int {
	if a.Gold != b.Gold {
		return a.Gold - b.Gold
	}
	return a.Predicted - b.Predicted
}

// supported counts the statements that a text supports.
func (j *ByModel) supported(ctx context.Context, text string, statements []string, t *trace) (int, error) {
	text = plain(text)
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
		return request("judge-support", prompt("support",
			"{nonce}", f.Nonce(), "{text}", f.Wrap("text", text), "{statements}", f.Wrap("statements", list)))
	}
	scores := make([]int, len(statements))
	err := j.run(ctx, newBatch("s", seed, len(statements), j.canaries()...), t, ask, func(it item, l line) bool {
		n, ok := l.score()
		if it.canary() {
			return ok && n == it.want()
		}
		scores[it.at] = n
		return ok
	})
	held := 0
	for _, n := range scores {
		held += n
	}
	return held, err
}
