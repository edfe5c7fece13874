// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wording is what the wording of a question shows of its complexity: how many words it
// has, names, relative clauses, "of the" and "of", and commas.
type wording [6]float64

const (
	atNames = iota + 1
	atRelative
	atOfThe
)

var relative = map[string]bool{"who": true, "whom": true, "whose": true, "which": true, "that": true, "where": true, "when": true}

// wordingOf reads a question. A name is a run of words with capitals after the first
// word; what the question itself begins with is no relative clause.
func wordingOf(question string) (w wording) {
	words := strings.Fields(question)
	w[0] = float64(len(words))
	inName, before := false, ""
	for i, word := range words {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, `"'(“‘`))
		capital := i > 0 && unicode.IsUpper(first)
		if capital && !inName {
			w[atNames]++
		}
		inName = capital
		bare := strings.ToLower(strings.Trim(word, `.,;:?!"'()“”‘’`))
		if i > 1 && relative[bare] {
			w[atRelative]++
		}
		if before == "of" {
			w[4]++
			if bare == "the" {
				w[atOfThe]++
			}
		}
		if strings.HasSuffix(word, ",") {
			w[5]++
		}
		before = bare
	}
	return w
}

// complex is the rule: a relative clause, "of the … of the", or several names.
func (w wording) complex() bool { return w[atRelative] > 0 || w[atOfThe] > 1 || w[atNames] > 1 }

// logistic is a logistic regression on wordings.
type logistic struct {
	mean, deviation wording
	weights         wording
	bias            float64
}

// The settings of the fit: gradient descent on the mean loss, with a penalty on the
// squares of the weights. Features are standardised, so one rate does for all.
const (
	fitRounds  = 500
	fitRate    = .5
	fitPenalty = .01
)

// fit learns from questions with a label each.
func fit(of []wording, labels []bool) logistic {
	var l logistic
	n := float64(max(1, len(of)))
	for f := range l.mean {
		for _, w := range of {
			l.mean[f] += w[f] / n
		}
		for _, w := range of {
			l.deviation[f] += (w[f] - l.mean[f]) * (w[f] - l.mean[f]) / n
		}
		if l.deviation[f] = math.Sqrt(l.deviation[f]); l.deviation[f] == 0 {
			l.deviation[f] = 1
		}
	}
	for range fitRounds {
		var slope wording
		level := 0.0
		for i, w := range of {
			miss := l.probability(w)
			if labels[i] {
				miss--
			}
			level += miss / n
			for f := range slope {
				slope[f] += miss * (w[f] - l.mean[f]) / l.deviation[f] / n
			}
		}
		l.bias -= fitRate * level
		for f := range slope {
			l.weights[f] -= fitRate * (slope[f] + fitPenalty*l.weights[f])
		}
	}
	return l
}

func (l logistic) probability(w wording) float64 {
	sum := l.bias
	for f, weight := range l.weights {
		sum += weight * (w[f] - l.mean[f]) / l.deviation[f]
	}
	return 1 / (1 + math.Exp(-sum))
}
