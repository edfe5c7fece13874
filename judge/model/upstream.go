// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
	"github.com/wildgraph/wildgraph/llm"
)

// What the released evaluator sends with every call (tools/eval.py).
const (
	factTokens    = 2048
	summaryTokens = 10000
)

// released is the procedure of the released evaluator.
type released struct {
	Options
	model llm.Model
	name  string
}

func newReleased(m llm.Model, version int, o Options) (released, error) {
	err := exam.Complete(&o.Options)
	if o.Grounded {
		err = errors.Join(err, errors.New("judge: the released evaluator does not ask whether an answer is grounded"))
	}
	if m == nil {
		err = errors.Join(err, errors.New("judge: no model"))
	}
	if err != nil {
		return released{}, err
	}
	name := fmt.Sprintf("wildgraph/%s/%s/v%d", Upstream, o.Precision, version) + exam.Suffix(o.Options)
	if o.NoParameters {
		name += "/noparameters"
	}
	return released{o, m, name + "/" + m.Name()}, nil
}

// warning says what is known to be wrong with the procedure.
func (j released) warning() string {
	w := "The upstream profile repeats the released evaluator, faults included: judge failures count as 0, " +
		"the evidence is not shown, and nothing guards against text that addresses the judge."
	switch j.Precision {
	case judge.RefNone:
		w += " As released, summary questions have no reference text, so their precision and F1 are always 0."
	case judge.RefGold:
		w += " The released summary questions have no reference text; precision is held against the joined gold statements instead."
	}
	return w
}

// ask asks once; a failure is an empty reply, and counted.
func (j released) ask(ctx context.Context, t *exam.Trace, name string, tokens int, data ...llm.Data) (map[string]json.RawMessage, error) {
	r, err := prompts.Request("judge-"+name, "upstream_"+name, map[string]any{"Limit": j.MaxStatements}, data...)
	if err != nil {
		return nil, err
	}
	if !j.NoParameters {
		r.Temperature, r.MaxTokens = new(float64), tokens
	}
	reply, err := j.model.Generate(ctx, r)
	t.Charge(reply.Usage, err)
	if err != nil {
		_, err = t.Failure(ctx, err)
		return nil, err
	}
	object := looseObject(reply.Text)
	if object == nil {
		t.Protocol.Failures++
	}
	return object, nil
}

// fact asks whether the answer states the reference. Empty answers score 0
// without a call.
func (j released) fact(ctx context.Context, c judge.Case, t *exam.Trace) (judge.Verdict, error) {
	if judge.Blank(c.Answer) {
		return judge.Score(0, "empty answer"), nil
	}
	object, err := j.ask(ctx, t, "fact", factTokens, llm.Data{Label: "question", Text: c.Question},
		llm.Data{Label: "reference", Text: c.Reference}, llm.Data{Label: "candidate", Text: c.Answer})
	if err != nil {
		return judge.Verdict{}, err
	}
	reason := exam.Word(object["reason"])
	if object == nil {
		reason = "the judge failed, which the released evaluator scores 0"
	}
	return judge.Score(looseFlag(object["score"]), reason), nil
}

// summary compares the gold statements with the whole answer, and the predicted ones
// with the whole reference text.
func (j released) summary(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *exam.Trace) error {
	if err := exam.Gold(c); err != nil {
		return err
	}
	if !judge.Blank(c.Answer) {
		object, err := j.ask(ctx, t, "extract", summaryTokens,
			llm.Data{Label: "question", Text: c.Question}, llm.Data{Label: "answer", Text: c.Answer})
		if err != nil {
			return err
		}
		out.Predicted, out.Truncated = exam.Distinct(looseStatements(object["statements"]), j.MaxStatements)
	}
	if len(c.Statements) == 0 || len(out.Predicted) == 0 {
		exam.NoStatement(out, c)
		return nil
	}
	held, err := j.supported(ctx, c.Answer, c.Statements, t)
	if err != nil {
		return err
	}
	exam.Recall(out, held, len(c.Statements))
	reference := exam.Reference(j.Precision, c)
	if j.Precision == judge.RefGold {
		reference = strings.Join(c.Statements, "\n")
		exam.Ceiling(out, len(c.Statements))
	}
	if judge.Blank(reference) {
		exam.Precision(out, 0)
		out.Precision.Reason = "no reference text, which the released evaluator scores 0"
		return nil
	}
	if held, err = j.supported(ctx, reference, out.Predicted, t); err == nil {
		exam.Precision(out, held)
	}
	return err
}

// supported counts the statements that a text supports; what the reply leaves
// out counts as unsupported.
func (j released) supported(ctx context.Context, text string, statements []string, t *exam.Trace) (int, error) {
	list := make([]string, len(statements))
	for i, s := range statements {
		list[i] = fmt.Sprintf("%d. %s", i+1, exam.OneLine(s))
	}
	object, err := j.ask(ctx, t, "support", summaryTokens,
		llm.Data{Label: "text", Text: text}, llm.Data{Label: "statements", Text: strings.Join(list, "\n")})
	if err != nil {
		return 0, err
	}
	return exam.Count(looseScores(object, len(statements))), nil
}

// What follows reads replies, as loose as the released evaluator's, which is
// written in Python.

var (
	fencedObject = regexp.MustCompile("(?s)```(?:json)?\\s*(\\{.*?\\})\\s*```")
	// flatObject is a brace-balanced object with at most one level inside.
	flatObject = regexp.MustCompile(`\{(?:[^{}]|\{[^{}]*\})*\}`)
	// wordNumber is a string, or a number that Python's JSON has as a word.
	wordNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b`)
)

// looseObject finds the object of a reply: the whole text, a fenced block, the
// first balanced object, the first brace to the last. It returns nil if there
// is none, or if the whole text is another value.
func looseObject(text string) map[string]json.RawMessage {
	if whole := pythonJSON(text); json.Valid(whole) && !bytes.HasPrefix(bytes.TrimSpace(whole), []byte("{")) {
		return nil
	}
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
		if json.Unmarshal(pythonJSON(s), &object) == nil && object != nil {
			return object
		}
	}
	return nil
}

// pythonJSON writes the numbers that Python's JSON has beyond the standard as
// texts that are read as these numbers.
func pythonJSON(text string) []byte {
	return []byte(wordNumber.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '"' {
			return s
		}
		return `"` + s + `"`
	}))
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

// looseStatements reads a list, of which what is no string is taken as Python
// prints it, or a string that is split at full stops and semicolons, Western or
// Chinese.
func looseStatements(raw json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		out := make([]string, 0, len(list))
		for _, v := range list {
			if s := pythonText(v); s != "" {
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

// pythonText is a string as it is, nothing for null, and other values about as
// Python prints them: strings within lists and objects keep JSON's quotes.
func pythonText(raw json.RawMessage) string {
	switch s := exam.Word(raw); s {
	case "null":
		return ""
	case "true":
		return "True"
	case "false":
		return "False"
	default:
		return s
	}
}

// looseScores reads the flags of n statements under the first of "scores",
// "results" and "items" that holds something, or under "scores" inside of it.
// Indices out of range are ignored, the last of several verdicts wins, none is a
// no, and half or more is a yes.
func looseScores(object map[string]json.RawMessage, n int) []bool {
	met := make([]bool, n)
	var raw json.RawMessage
	for _, key := range []string{"scores", "results", "items"} {
		if raw = object[key]; truthy(raw) {
			break
		}
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(raw, &inner) == nil {
		raw = inner["scores"]
	}
	var found []json.RawMessage
	_ = json.Unmarshal(raw, &found) // anything else holds no verdict
	for _, item := range found {
		var v map[string]json.RawMessage
		if json.Unmarshal(item, &v) != nil {
			continue
		}
		idx, err := looseIndex(v["idx"])
		score, serr := looseNumber(v["score"])
		if v["score"] == nil {
			score, serr = 0, nil
		}
		if i := int(idx) - 1; err == nil && serr == nil && idx >= 1 && i < n {
			met[i] = score >= 0.5
		}
	}
	return met
}

// truthy is what Python takes for true: anything but null, false, 0 and what is
// empty.
func truthy(raw json.RawMessage) bool {
	var v any
	_ = json.Unmarshal(raw, &v) // a missing key stays nil
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

var errNoNumber = errors.New("no number")

// looseIndex reads a number, cut to an integer, or a string that is an integer.
func looseIndex(raw json.RawMessage) (float64, error) {
	f, err := looseNumber(raw)
	if len(raw) > 0 && raw[0] == '"' && strings.ContainsAny(exam.Word(raw), ".eEnN") || math.Abs(f) > math.MaxInt32 {
		return 0, errNoNumber
	}
	return f, err
}

// looseNumber reads a number, a string that holds one, or a truth value.
func looseNumber(raw json.RawMessage) (float64, error) {
	switch s := exam.Word(raw); s {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	case "":
		return 0, errNoNumber
	default:
		f, err := strconv.ParseFloat(s, 64) // beyond a float64 is infinite, as in Python
		if errors.Is(err, strconv.ErrSyntax) || strings.ContainsAny(s, "xX") {
			return 0, errNoNumber
		}
		return f, nil
	}
}
