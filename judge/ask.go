// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// flag is a verdict as models write it. Anything but a clear 0 or 1 is
// unusable: a guess would be a score.
type flag struct{ value float64 }

func (f *flag) UnmarshalJSON(data []byte) error {
	switch s := strings.ToLower(strings.Trim(string(data), `" `)); s {
	case "1", "1.0", "true", "yes", "correct":
		f.value = 1
	case "0", "0.0", "false", "no", "incorrect":
		f.value = 0
	default:
		return fmt.Errorf("score %.20s is neither 0 nor 1", s)
	}
	return nil
}

type gradeReply struct {
	Reason string `json:"reason"`
	Score  *flag  `json:"score"`
}

// Check implements llm.Checker.
func (g gradeReply) Check() error {
	if g.Score == nil {
		return fmt.Errorf(`the key "score" is missing`)
	}
	return nil
}

func equivalenceRequest(c Case, evidence []string) llm.Request {
	data := append([]string{c.Question, c.Reference, c.Answer}, evidence...)
	f := llm.NewFence(data...)
	rule, shown := evidenceParts(f, evidence)
	return request("judge-fact", prompt("equivalence",
		"{nonce}", f.Nonce(), "{evidence_rule}", rule,
		"{question}", f.Wrap("question", c.Question),
		"{reference}", f.Wrap("reference", c.Reference),
		"{candidate}", f.Wrap("candidate", c.Answer),
		"{evidence}", shown))
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
	return "\nThe evidence is what the answer was written from. Use it to resolve names, spellings\n" +
		"and dates; the reference alone decides what is true.\n", b.String()
}

type extractReply struct {
	Statements []string `json:"statements"`
}

func extractRequest(c Case, limit int) llm.Request {
	f := llm.NewFence(c.Question, c.Answer)
	return request("judge-extract", prompt("extract",
		"{nonce}", f.Nonce(), "{limit}", strconv.Itoa(limit),
		"{question}", f.Wrap("question", c.Question),
		"{answer}", f.Wrap("answer", c.Answer)))
}

// distinct drops empty and repeated statements and cuts the list at limit.
func distinct(statements []string, limit int) (kept []string, truncated bool) {
	for _, s := range statements {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(kept, s) {
			if len(kept) == limit {
				return kept, true
			}
			kept = append(kept, s)
		}
	}
	return kept, false
}

// numbered lists statements under ids.
func numbered(letter string, statements []string) string {
	lines := make([]string, len(statements))
	for i, s := range statements {
		lines[i] = fmt.Sprintf("%s%d: %s", letter, i+1, strings.Join(strings.Fields(s), " "))
	}
	return strings.Join(lines, "\n")
}

// number reads an id such as "P3", or a bare 3, and returns the index.
func number(letter string, raw json.RawMessage, n int) (int, bool) {
	s := strings.Trim(string(raw), `" `)
	s = strings.TrimPrefix(strings.ToUpper(s), letter)
	i, err := strconv.Atoi(s)
	return i - 1, err == nil && i >= 1 && i <= n
}

type matchReply struct {
	Matches []struct {
		ID   json.RawMessage   `json:"id"`
		Gold []json.RawMessage `json:"gold"`
	} `json:"matches"`
}

// match asks for the matrix of matches. Every predicted statement must be in
// the reply; those that are missing are asked for once more, alone.
func (j *ByModel) match(ctx context.Context, c Case, predicted []string) ([]Match, llm.Usage, error) {
	var matches []Match
	usage, err := everyID(predicted, func(open []int) ([]int, llm.Usage, error) {
		asked := pick(predicted, open)
		found, reply, err := llm.Decode[matchReply](ctx, j.model, matchRequest(c, asked))
		if err != nil {
			return nil, reply.Usage, err
		}
		var answered []int
		for _, m := range found.Matches {
			p, ok := number("P", m.ID, len(asked))
			if !ok || slices.Contains(answered, open[p]) {
				continue
			}
			answered = append(answered, open[p])
			for _, raw := range m.Gold {
				if g, ok := number("G", raw, len(c.Statements)); ok {
					matches = append(matches, Match{Gold: g, Predicted: open[p]})
				}
			}
		}
		return answered, reply.Usage, nil
	})
	slices.SortFunc(matches, compareMatches)
	return slices.Compact(matches), usage, err
}

func compareMatches(a, b Match) int {
	if a.Gold != b.Gold {
		return a.Gold - b.Gold
	}
	return a.Predicted - b.Predicted
}

func matchRequest(c Case, predicted []string) llm.Request {
	gold, pred := numbered("G", c.Statements), numbered("P", predicted)
	f := llm.NewFence(append([]string{gold, pred}, c.Evidence...)...)
	rule, shown := evidenceParts(f, c.Evidence)
	return request("judge-match", prompt("match",
		"{nonce}", f.Nonce(), "{evidence_rule}", rule,
		"{gold}", f.Wrap("gold", gold), "{predicted}", f.Wrap("predicted", pred),
		"{evidence}", shown))
}

type supportReply struct {
	Scores []struct {
		ID    json.RawMessage `json:"id"`
		Score *flag           `json:"score"`
	} `json:"scores"`
}

// supported counts the statements that a text supports.
func (j *ByModel) supported(ctx context.Context, text string, statements []string) (int, llm.Usage, error) {
	held := 0
	usage, err := everyID(statements, func(open []int) ([]int, llm.Usage, error) {
		asked := pick(statements, open)
		found, reply, err := llm.Decode[supportReply](ctx, j.model, supportRequest(text, asked))
		if err != nil {
			return nil, reply.Usage, err
		}
		var answered []int
		for _, s := range found.Scores {
			i, ok := number("S", s.ID, len(asked))
			if !ok || s.Score == nil || slices.Contains(answered, open[i]) {
				continue
			}
			answered = append(answered, open[i])
			held += int(s.Score.value)
		}
		return answered, reply.Usage, nil
	})
	return held, usage, err
}

func supportRequest(text string, statements []string) llm.Request {
	list := numbered("S", statements)
	f := llm.NewFence(text, list)
	return request("judge-support", prompt("support",
		"{nonce}", f.Nonce(), "{text}", f.Wrap("text", text), "{statements}", f.Wrap("statements", list)))
}

// everyID asks until every index has an answer: once for all, once more for
// the missing ones. A denominator that shrinks with a careless reply would
// raise the score.
func everyID(statements []string, ask func(open []int) (answered []int, usage llm.Usage, err error)) (llm.Usage, error) {
	open := make([]int, len(statements))
	for i := range open {
		open[i] = i
	}
	var total llm.Usage
	for range 2 {
		answered, usage, err := ask(open)
		total = total.Add(usage)
		if err != nil {
			return total, err
		}
		open = slices.DeleteFunc(open, func(i int) bool { return slices.Contains(answered, i) })
		if len(open) == 0 {
			return total, nil
		}
	}
	return total, &llm.Error{Kind: llm.ErrInvalidOutput, Err: fmt.Errorf("no verdict on %d of %d statements", len(open), len(statements))}
}

func pick(all []string, indices []int) []string {
	out := make([]string, len(indices))
	for i, x := range indices {
		out[i] = all[x]
	}
	return out
}

// scoreMatches computes recall and precision from a matrix of matches:
// WildGraphBench, equations 2 and 3. Several predictions may match one gold
// statement and the other way round.
func scoreMatches(matches []Match, gold, predicted int) (recall, precision Verdict) {
	metGold, metPredicted := make([]bool, gold), make([]bool, predicted)
	for _, m := range matches {
		metGold[m.Gold], metPredicted[m.Predicted] = true, true
	}
	return share(metGold), share(metPredicted)
}

func share(met []bool) Verdict {
	n := 0
	for _, m := range met {
		if m {
			n++
		}
	}
	return Score(float64(n)/float64(len(met)), "")
}
