// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/judge/internal/exam"
)

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
