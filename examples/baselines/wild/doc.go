// SPDX-License-Identifier: Apache-2.0

// Package wild is a retriever made for raw web pages: short passages, pages by their
// best passage, and a budget of tokens that is spent where it is worth most. It asks
// no model to index; with one it is asked once for the aspects of an overview.
// docs/systems.md has what each part is worth.
package wild
