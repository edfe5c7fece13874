// SPDX-License-Identifier: Apache-2.0

// Package reader computes answers with citations from a question and its evidence.
//
//	r, err := reader.Extractive(reader.ExtractiveOptions{}) // or ByModel
//	answer, err := r.Read(ctx, graphrag.Question{Text: "Who built the Fram?"}, hits, nil)
//	fmt.Println(answer.Text, answer.Citations)
//
// There are two kinds of [Reader]. [Extractive] needs no model: it quotes the sentence, item, row or
// definition of the evidence that answers best, with a confidence. [ByModel] asks a language model. Both have
// modes: [Open] answers, a model from its own knowledge if the evidence does not help; [Reject] returns
// [Refusal] unless the evidence contains the answer, and [Cited] also if the answer cites nothing.
//
// Extractive parses a chunk's Lead (headings, the header of its table, the line before its list) and its
// text together as Markdown, and quotes only the text. A chunk without a lead is parsed alone.
//
// Evidence is untrusted text, so it is data and never instructions: in prompts it stands
// between marks that no text can imitate.
package reader
