// SPDX-License-Identifier: Apache-2.0

// Package link compares the names of entities with each other.
//
// [Trigrams] compares spellings, [Embeddings] meanings. With either, [Synonyms] finds the entities of a
// graph whose names are similar, which HippoRAG joins by edges (arXiv 2405.14831), and a [NameIndex] finds
// the entity that a question's name means.
package link
