// SPDX-License-Identifier: Apache-2.0

// Package model judges answers by asking a language model, by one of two procedures.
//
// [Joint] compares what statements say together. A gold statement of a summary often joins several claims,
// while an answer is split into statements of one claim each, so that in pairs no predicted statement equals
// the gold one. For recall the model decides whether the predicted statements together state each gold
// statement, and for precision whether the gold statements together support each predicted one. Each verdict
// must name the ids of these statements. The question is shown: only what it asks for is required. The evidence
// is not shown, which reduces the tokens to a quarter.
//
// [Paper] follows WildGraphBench (arXiv 2602.02053, section 3.5): the judge sees the evidence, statements are
// matched in pairs, failures are unscored. Use it for figures that are compared with published ones.
//
// Both profiles give every item an id made from the data, require a verdict on each, and add control items with
// known verdicts, so that a text with instructions for the judge has no effect: a wrong verdict on a control
// item leaves the batch unscored.
package model
