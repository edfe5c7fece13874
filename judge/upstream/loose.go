// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/judge/internal/score"
)

// What follows reads replies, as loose as the released evaluator's.

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
	switch s := score.Word(raw); s {
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
