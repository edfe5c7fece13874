// SPDX-License-Identifier: Apache-2.0

// Package report writes a report on every community of a hierarchy, from the deepest level up. What a
// report is written from is packed by the rules of Microsoft GraphRAG (arXiv 2404.16130; microsoft/graphrag
// v0.3.0), see [Input]. A [Reporter] writes it: [ByModel] asks a language model, [Extractive] quotes.
package report
