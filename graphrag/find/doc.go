// SPDX-License-Identifier: Apache-2.0

// Package find makes what systems search in: of texts such as entities and facts, by
// words or by vectors, and of chunks; in memory, or in a store.
package find
