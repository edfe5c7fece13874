// SPDX-License-Identifier: Apache-2.0

// Package model judges answers by asking a language model, by one of three procedures.
//
// [Joint] asks what statements say together. The gold statements of a summary are
// often composite, while an answer is split into statements of one claim each, so a
// comparison in pairs finds neither half of a gold statement to be the whole. Here
// recall asks of each gold statement whether the predicted ones together state it, and
// precision asks of each predicted one whether the gold ones together support it. Each
// verdict must cite the ids it rests on. The question is shown and limits what a
// reference may demand; the evidence is not shown, which takes a quarter of the tokens.
//
// [Paper] follows WildGraphBench (arXiv 2602.02053, section 3.5): the judge sees the
// evidence, statements are matched in pairs, failures are unscored. Figures beside
// published ones are of this profile.
//
// [Upstream] repeats WildGraphBench's released evaluator, for comparison with its
// files: no evidence is shown, each list of statements is compared with the other
// side's whole text, failures count as 0. Its precision needs a reference text, which
// the released questions do not have, see [judge.PrecisionRef] and [Judge.Warning]. Its
// figures must not stand in a table with those of the others.
//
// Joint and Paper give every item an id made from the data, demand a verdict on each,
// and mix in control items whose verdict is known, so that a text that addresses the
// judge gains nothing: a judge that errs on a control item leaves its batch unscored.
package model
