// SPDX-License-Identifier: Apache-2.0

// Package summary condenses texts. A [Summarizer] makes one text of several:
// [Extractive] needs no model and quotes the sentences nearest to what the texts
// are about, each with its place; [ByModel] asks a language model.
package summary
