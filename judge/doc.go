// SPDX-License-Identifier: Apache-2.0

// Package judge decides whether an answer is right, and how much of it.
//
// A question with one gold statement gets a [FactJudgment]: is the answer
// factually equivalent to it? A question with a set of gold statements gets a
// [SummaryJudgment]: the answer is split into statements, these are matched
// with the gold ones, and recall, precision and F1 are computed from the
// matches (WildGraphBench, arXiv 2602.02053, section 3.5, equations 2 and 3).
//
// There are two kinds of [Judge]. [NewByModel] asks a language model, under
// one of two profiles that must not be mixed in a table: [Paper] follows the
// equations, [Upstream] the procedure of the released evaluator. [NewLexical]
// compares words, numbers and negation without a model; it is fast,
// deterministic and free, and its figures are labelled lexical wherever they
// are shown.
//
// Every verdict has one of three states. A judge that fails leaves the answer
// [Unscored], with the reason; it never turns its own failure into a wrong
// answer. What models are asked is asked under ids made from the data, with
// every verdict demanded and control items ([Canary]) mixed in, so that a text
// that addresses the judge gains nothing. docs/judge.md defines every figure.
package judge
