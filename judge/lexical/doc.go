// SPDX-License-Identifier: Apache-2.0

// Package lexical judges without a model, by comparing words, names, numbers, dates
// and denials: fast, deterministic and free. It knows no synonyms and no inference, so
// its figures are labelled lexical wherever they are shown and must not be set beside a
// model's. docs/judge.md lists what it cannot see, with measured agreement.
package lexical
