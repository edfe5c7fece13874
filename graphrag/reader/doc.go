// SPDX-License-Identifier: Apache-2.0

// Package reader turns evidence and a question into an answer with citations.
//
// There are two kinds of [Reader]. [Extractive] needs no model: it quotes the
// sentences of the evidence that answer best. [ByModel] asks a language model.
// Both work in one of two modes: [Open] answers in any case, the model from
// what it knows if the evidence does not help; [Reject] says [Refusal] unless
// the evidence holds the answer.
//
// Evidence is what others wrote, so it is data and never instructions: in
// prompts it stands between marks that no text can imitate.
package reader
