// SPDX-License-Identifier: Apache-2.0

// Package wild is a retriever for raw web pages: it ranks short passages, ranks pages by their best
// passage, and spends a budget of tokens on the best places. Indexing calls no model. A question for an
// overview takes one call for its aspects. docs/systems.md measures each part.
package wild
