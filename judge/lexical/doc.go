// SPDX-License-Identifier: Apache-2.0

// Package lexical judges answers without a model, by comparing words, names, numbers, dates and denials. It
// is fast, deterministic and free. It knows no synonyms and makes no inference, so its figures are always
// labelled lexical and must not be compared with a model's. docs/judge.md lists its limits, with measured
// agreement.
//
// Each rule is there because the agreement with the labels of 420 answers (examples/maker, TestPairs and
// TestLabels) is lower without it, or because a number could not be read without it.
package lexical
