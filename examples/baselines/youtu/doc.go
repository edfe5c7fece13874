// SPDX-License-Identifier: Apache-2.0

// Package youtu is Youtu-GraphRAG (Dong and others 2025, arXiv 2508.19855): one
// schema bounds what is extracted and how questions are taken apart; communities of
// entities that are alike in their relations and in meaning make a tree of knowledge
// over the facts; a question's sub-queries are searched for by entity, fact,
// community and path, and an agent reflects on what was found and searches again.
package youtu
