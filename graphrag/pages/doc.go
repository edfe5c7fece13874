// SPDX-License-Identifier: Apache-2.0

// Package pages searches raw pages by short passages, and reads the best pieces within a budget of tokens.
//
//	list, err := pages.Cut(ctx, docs, pages.CutOptions{})
//	r, err := pages.New(ctx, list, pages.Options{})
//	found, err := r.Retrieve(ctx, graphrag.Question{Text: "Who built the Fram?", Tokens: 6000})
//
// [Cut] divides pages into units of whole sentences and overlapping passages. A [Retriever] ranks pages by their
// best passages, titles and names, searches for the aspects of an overview, and selects the units to read. It is
// the engine of examples/baselines/wild; docs/systems.md has the recipe and its figures.
package pages
