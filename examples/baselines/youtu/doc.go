// SPDX-License-Identifier: Apache-2.0

// Package youtu is Youtu-GraphRAG (Dong and others 2025, arXiv 2508.19855): one schema bounds the
// extraction and the decomposition of questions; communities of entities with similar relations and
// meaning make a tree of knowledge over the facts; the sub-queries of a question search by entity, fact,
// community and path, and an agent reflects on the results and searches again.
package youtu
