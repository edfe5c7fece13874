// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
)

// pronouns are words that refer to something mentioned before.
const pronouns = " it its they them their he him his she her that this those these there one ones "

// maxAnswerBytes bounds the part of an answer whose names are read.
const maxAnswerBytes = 4096

// personal pronouns refer to a person.
const personal = " they their he him his she her "

var (
	// fullName is a run of capitalized words.
	fullName = regexp.MustCompile(`(?:\p{Lu}\. ?)+\p{Lu}[\p{L}’'-]+|\p{Lu}[\p{L}’'-]+(?: (?:\p{Lu}\. |de |van |von )?\p{Lu}[\p{L}’'-]+)+`)
	asksWho  = regexp.MustCompile(`(?i)\b(?:who|whom|whose)\b`)
)

// InContext returns a question as it can be asked alone, in English. One that leans on the question before it, by
// a pronoun, by beginning with "and" or "what about", or by having at most one word of its own, is put with the
// full names of the answer to that, if it asked who and a person is meant; else with the names of that question,
// or its words if it has none. The answers are those to the questions before it, "" for a refusal.
func InContext(question string, before, answers []string) string {
	if len(before) == 0 {
		return question
	}
	words := strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return strings.ContainsRune(" \t,.?!;:\"()", r) })
	leans, person := len(words) > 0 && (words[0] == "and" || len(words) > 1 && words[1] == "about"), false
	for _, w := range words {
		leans = leans || strings.Contains(pronouns, " "+w+" ")
		person = person || strings.Contains(personal, " "+w+" ")
	}
	own := text.ReadQuestion(question)
	if !leans && (len(strings.Fields(own.Words)) > 1 || own.Names != "") {
		return question
	}
	n := len(before) - 1
	last := InContext(before[n], before[:n], answers[:min(n, len(answers))])
	read, topic := text.ReadQuestion(last), ""
	if n < len(answers) && person && asksWho.MatchString(last) {
		topic = answered(answers[n], strings.ToLower(last))
	}
	if topic == "" {
		topic = cmp.Or(spelled(last, read.Names), read.Words)
	}
	if topic == "" || strings.Contains(strings.ToLower(question), strings.ToLower(topic)) {
		return question
	}
	return strings.TrimSpace(question) + " (" + topic + ")"
}

// answered are at most three full names of the first paragraph of an answer that its question lacks.
func answered(answer, question string) string {
	answer, _, _ = strings.Cut(display.Head(answer, maxAnswerBytes), "\n\n")
	out := slices.DeleteFunc(fullName.FindAllString(answer, -1), func(n string) bool { return strings.Contains(question, strings.ToLower(n)) })
	return strings.Join(out[:min(3, len(out))], " ")
}

// spelled returns the words of a question that a list contains, in the spelling of the question.
func spelled(question, list string) string {
	var out []string
	for _, w := range strings.Fields(question) {
		w = strings.Trim(w, ".,?!;:\"()")
		if w != "" && strings.Contains(" "+list+" ", " "+strings.ToLower(w)+" ") {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
