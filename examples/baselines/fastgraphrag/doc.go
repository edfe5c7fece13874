// SPDX-License-Identifier: Apache-2.0

// Package fastgraphrag is Fast-GraphRAG (circlemind-ai/fast-graphrag 0.0.5,
// commit 23b3a1b): a graph of described entities in which every fact is an edge
// of its own, walked by personalised PageRank from the entities of the question.
//
// Indexing takes one call per chunk, for the entities and relations of a
// domain's types; entities with more than 512 characters of descriptions, and
// pairs with more than five facts, take one more each. A question takes one call
// for its entities, and one to read.
//
// Where this differs from the code, and why:
//
//   - Identity edges join the entities that are alike. The code takes a row of the
//     batch for the number of an entity and never joins the first one.
//   - A pair's facts are merged once, out of all of them, so that the graph does
//     not depend on the order in which documents come; and a pair has no
//     direction, like the edge.
//   - A chunk whose extraction fails is listed in the graph's Rejected. The code
//     loses its document.
//   - Question.K decides how many chunks are read; the code reads eight.
//
// Offline, entities and facts are found by rules and described by the sentences
// they stand in, see extract.Linked. Long descriptions are cut down to their
// central sentences; parallel facts of one relation are merged. Entities are one
// by spelling, and the names in a question are linked by spelling too; its other
// words find entities by BM25, see kit.Kit.Find.
package fastgraphrag
