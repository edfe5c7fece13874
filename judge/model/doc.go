// SPDX-License-Identifier: Apache-2.0

// Package model judges answers by asking a language model, by one of two procedures.
//
// [Joint] asks what statements say together. The gold statements of a summary are often composite, while an
// answer is split into statements of one claim each, so a comparison in pairs finds neither half of a gold
// statement equivalent to the whole. Here recall asks of each gold statement whether the predicted ones
// together state it, and precision asks of each predicted one whether the gold ones together support it. Each
// verdict must cite the ids it rests on. The question is shown and limits what a reference may demand; the
// evidence is not shown, which takes a quarter of the tokens.
//
// [Paper] follows WildGraphBench (arXiv 2602.02053, section 3.5): the judge sees the evidence, statements are
// matched in pairs, failures are unscored. Figures for comparison with published ones must have this profile.
//
// Both give every item an id made from the data, demand a verdict on each, and mix in control items with
// known verdicts, so that a text that addresses the judge gains nothing: an error on a control item leaves
// the batch unscored.
package model
