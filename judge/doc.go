// SPDX-License-Identifier: Apache-2.0

// Package judge decides whether an answer is right, and how much of it.
//
//	j, err := lexical.New(judge.Options{}) // or model.New, short.New, judge.ByFunc
//	got, err := j.Fact(ctx, judge.Case{Question: "Who wrote it?", Answer: "Ada did.", Reference: "Ada wrote it."})
//	fmt.Println(got.Value, got.Reason)
//
// A question with one gold statement gets a [FactJudgment]: is the answer factually equivalent to it? A
// question with a set of gold statements gets a [SummaryJudgment]: the answer is split into statements, these
// are matched with the gold ones, and recall, precision and F1 are computed from the matches (WildGraphBench,
// arXiv 2602.02053, section 3.5, equations 2 and 3).
//
// Package judge/model asks a language model, by one of two profiles: joint compares what statements say
// together, paper compares them in pairs, as the equations do. Package judge/lexical compares words, numbers
// and negation without a model. Figures of different profiles and judges must not be mixed in a table. Package
// judge/short is for names, numbers and choices.
//
// Every verdict has one of three states. If a judge fails, the answer is [Unscored], with the reason, and never
// counted as wrong. [stats.Tally] adds up verdicts; docs/judge.md defines every figure.
package judge
