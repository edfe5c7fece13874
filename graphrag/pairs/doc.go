// SPDX-License-Identifier: Apache-2.0

// Package pairs gathers the relations of each pair of entities of a graph, and the pairs that
// each entity is in, in little memory: LightRAG and GraphRAG rank pairs, however many relations
// join them.
package pairs
