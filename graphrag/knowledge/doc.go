// SPDX-License-Identifier: Apache-2.0

// Package knowledge builds the tree of knowledge of Youtu-GraphRAG (arXiv
// 2508.19855, section 3.2) on its four levels: attributes, facts, the keywords of
// each community, and the communities.
package knowledge
