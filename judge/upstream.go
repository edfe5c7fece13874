// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
)

// What the released evaluator sends with every call (tools/eval.py).
const (
	upstreamFactTokens    = 2048
	upstreamSummaryTokens = 10000
)

// Warning says what is known to be wrong with the judge's procedure; programs
// print it beside the figures. It is empty for [Paper].
func (j *ByModel) Warning() string {
	if j.o.Profile != Upstream {
		return ""
	}
	w := "The upstream profile repeats the released evaluator, faults included: judge failures count as 0, " +
		"the evidence is not shown, and nothing guards against text that addresses the judge."
	switch j.o.Precision {
	case RefNone:
		w += " As released, summary questions have no reference text, so their precision and F1 are always 0."
	case RefGold:
		w += " The released summary questions have no reference text; precision is held against the joined gold statements instead."
	}
	return w
}

func (j *ByModel) upstreamRequest(stage string, tokens int, text string) llm.Request {
	r := llm.Prompt(text)
	r.Stage = stage
	if !j.o.NoParameters {
		zero := 0.0
		r.Temperature, r.MaxTokens = &zero, tokens
	}
	return r
}

// reply asks once; a failure is an empty reply, and counted.
func (t *trace) reply(ctx context.Context, m llm.Model, r llm.Request) (map[string]json.RawMessage, error) {
	reply, err := m.Generate(ctx, r)
	t.usage = t.usage.Add(reply.Usage)
	if err != nil {
		t.usage = t.usage.Add(usageOf(err))
		_, err = t.failure(ctx, err)
		return nil, err
	}
	object := looseObject(reply.Text)
	if object == nil {
		t.protocol.Failures++
	}
	return object, nil
}

func (j *ByModel) upstreamFact(ctx context.Context, c Case) (FactJudgment, error) {
	if blank(c.Answer) {
		return FactJudgment{Verdict: Score(0, "empty answer")}, nil
	}
	f := llm.NewFence(c.Question, c.Reference, c.Answer)
	var t trace
	object, err := t.reply(ctx, j.model, j.upstreamRequest("judge-fact", upstreamFactTokens, prompt("upstream_fact",
		"{nonce}", f.Nonce(), "{question}", f.Wrap("question", c.Question),
		"{reference}", f.Wrap("reference", c.Reference), "{candidate}", f.Wrap("candidate", c.Answer))))
	out := FactJudgment{Protocol: t.protocol, Usage: t.usage}
	if err != nil {
		return out, err
	}
	reason := word(object["reason"])
	if object == nil {
		reason = "the judge failed, which the released evaluator scores 0"
	}
	out.Verdict = Score(looseFlag(object["score"]), reason)
	return out, nil
}

// upstreamSummary holds the gold statements against the whole answer, and the
// predicted ones against the whole reference text.
func (j *ByModel) upstreamSummary(ctx context.Context, c Case) (out SummaryJudgment, err error) {
	var t trace
	defer func() { out.Protocol, out.Usage = t.protocol, t.usage }()
	if !blank(c.Answer) {
		f := llm.NewFence(c.Question, c.Answer)
		object, err := t.reply(ctx, j.model, j.upstreamRequest("judge-extract", upstreamSummaryTokens, prompt("upstream_extract",
			"{nonce}", f.Nonce(), "{limit}", strconv.Itoa(j.o.MaxStatements),
			"{question}", f.Wrap("question", c.Question), "{answer}", f.Wrap("answer", c.Answer))))
		if err != nil {
			return out, err
		}
		out.Predicted, out.Truncated = distinct(looseStatements(object["statements"]), j.o.MaxStatements)
	}
	if len(c.Statements) == 0 || len(out.Predicted) == 0 {
		out.noStatement(c)
		return out, nil
	}
	held, err := j.upstreamSupport(ctx, c.Answer, c.Statements, &t)
	if err != nil {
		return out, err
	}
	out.setRecall(held, len(c.Statements))
	reference := map[PrecisionRef]string{RefGold: strings.Join(c.Statements, "\n"), RefSection: c.Section}[j.o.Precision]
	if blank(reference) {
		out.setPrecision(0)
		out.Precision.Reason = "no reference text, which the released evaluator scores 0"
		return out, nil
	}
	if held, err = j.upstreamSupport(ctx, reference, out.Predicted, &t); err != nil {
		return out, err
	}
	out.setPrecision(held)
	return out, nil
}

// upstreamSupport counts the statements that a text supports; what the reply
// leaves out counts as unsupported.
func (j *ByModel) upstreamSupport(ctx context.Context, text string, statements []string, t *trace) (int, error) {
	list := make([]string, len(statements))
	for i, s := range statements {
		list[i] = fmt.Sprintf("%d. %s", i+1, oneLine(s))
	}
	joined := strings.Join(list, "\n")
	f := llm.NewFence(text, joined)
	object, err := t.reply(ctx, j.model, j.upstreamRequest("judge-support", upstreamSummaryTokens, prompt("upstream_support",
		"{nonce}", f.Nonce(), "{text}", f.Wrap("text", text), "{statements}", f.Wrap("statements", joined))))
	if err != nil {
		return 0, err
	}
	return count(looseScores(object, len(statements))), nil
}

// The reading of replies, as loose as the released evaluator's.

var (
	fencedObject = regexp.MustCompile("(?s)```(?:json)?\\s*(\\{.*?\\})\\s*```")
	// flatObject is a brace-balanced object with at most one level inside.
	flatObject = regexp.MustCompile(`\{(?:[^{}]|\{[^{}]*\})*\}`)
)

// looseObject finds the object of a reply: the whole text, a fenced block, the
// first balanced object, the first brace to the last. It returns nil if there
// is none.
func looseObject(text string) map[string]json.RawMessage {
	tries := []string{text}
	if m := fencedObject.FindStringSubmatch(text); m != nil {
		tries = append(tries, m[1])
	}
	tries = append(tries, flatObject.FindString(text))
	if from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); from >= 0 && to > from {
		tries = append(tries, text[from:to+1])
	}
	for _, s := range tries {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &object) == nil && object != nil {
			return object
		}
	}
	return nil
}

// looseFlag is 1 for 1, true and the four strings, else 0.
func looseFlag(raw json.RawMessage) float64 {
	var v any
	_ = json.Unmarshal(raw, &v) // what is no JSON stays nil: 0
	switch v := v.(type) {
	case float64:
		if v == 1 {
			return 1
		}
	case bool:
		if v {
			return 1
		}
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "1", "true", "correct", "yes":
			return 1
		}
	}
	return 0
}

// looseStatements reads a list of strings, or a string that is split at full
// stops and semicolons, Western or Chinese.
func looseStatements(raw json.RawMessage) []string {
	var list []any
	if json.Unmarshal(raw, &list) == nil {
		out := make([]string, 0, len(list))
		for _, v := range list {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(".;。；", r) })
}

// looseScores reads the flags of n statements under "scores", "results" or
// "items", or under "scores" inside one of these. Indices out of range are
// ignored, the last of several verdicts wins, and half or more is a yes.
func looseScores(object map[string]json.RawMessage, n int) []bool {
	met := make([]bool, n)
	for _, key := range []string{"scores", "results", "items"} {
		raw, ok := object[key]
		if !ok {
			continue
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) == nil {
			raw = inner["scores"]
		}
		var found []map[string]json.RawMessage
		if json.Unmarshal(raw, &found) != nil {
			continue
		}
		for _, v := range found {
			idx, err := looseNumber(v["idx"])
			score, serr := looseNumber(v["score"])
			if i := int(idx) - 1; err == nil && serr == nil && idx >= 1 && i < n {
				met[i] = score >= 0.5
			}
		}
		break
	}
	return met
}

var errNoNumber = errors.New("no number")

// looseNumber reads a number, a string that holds one, or a truth value.
func looseNumber(raw json.RawMessage) (float64, error) {
	switch s := word(raw); s {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	case "":
		return 0, errNoNumber
	default:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(f) || math.Abs(f) > 1e9 {
			return 0, errNoNumber
		}
		return f, nil
	}
}
