// SPDX-License-Identifier: Apache-2.0

// Package liverag judges answers on the scales of the LiveRAG challenge (SIGIR 2025),
// on which GeAR-s reports 0.876 for correctness and 0.529 for faithfulness (arXiv
// 2507.17399).
//
// Correctness goes from -1 to 2: 2 for an answer that is right and holds nothing else,
// 1 for one that is right among what is irrelevant, 0 for none, -1 for a wrong one. It
// is made of coverage, the share of the gold answer's statements that the answer
// gives, and relevance, the share of its own statements that have to do with the
// question ([Correctness]). Faithfulness goes from -1 to 1: 1 where the passages support
// every statement of the answer, -1 where they support none ([Faithfulness]). Of an
// answer the first 300 words are read.
//
// The ends and the middle of the scales are the challenge's; that they are straight
// lines between these, and all prompts, are ours. So are splitting and control items
// of the other judges by model. A reply that cannot be used leaves an answer unscored.
//
// A [judge.Verdict] is in 0..1: the value of Fact is the place on the scale of
// correctness, so that an answer that says nothing has a third, and the score named
// faithfulness is the share of statements that are supported. [Points] and
// [Faithfulness] bring values, and means of them, back to the challenge's numbers.
//
// Without a model rules on words decide, by which a gold answer is stated or not, and
// the name of the judge begins with lexical: these figures must not be set beside a
// model's, nor beside those of the challenge.
package liverag
