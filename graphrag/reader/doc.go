// SPDX-License-Identifier: Apache-2.0

// Package reader turns evidence and a question into an answer with citations.
//
// There are two kinds of [Reader]. [Extractive] needs no model: it quotes what of the
// evidence answers best, a sentence, an item, a row, a definition, and says how sure it
// is. [ByModel] asks a language model.
// Both work in one of two modes: [Open] answers in any case, the model from
// what it knows if the evidence does not help; [Reject] says [Refusal] unless
// the evidence holds the answer.
//
// Structure survives being cut: a chunk has in Lead what stands before it and is
// needed to understand it (headings, the header of its table, the line before its
// list), and Extractive reads the lead and the text as one piece of Markdown, of
// which it quotes the text alone. Chunks without a lead are read for what they are.
//
// Evidence is what others wrote, so it is data and never instructions: in
// prompts it stands between marks that no text can imitate.
package reader
