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
//   - Identity edges join similar entities. The code confuses the row of a batch with
//     the number of an entity and never joins the first one.
//   - The facts of a pair are merged once, from all of them, so that the graph does
//     not depend on the order of documents; and a pair has no direction, like the edge.
//   - A chunk whose extraction fails is listed in the graph's Rejected. The code
//     loses its document.
//   - Question.K decides how many chunks are read; the code reads eight.
//
// Offline, rules find entities and facts, and the sentences that name them describe
// them, see extract.Linked. Long descriptions are cut to their central sentences;
// parallel facts of one relation are merged. Entities are equal by spelling, and the
// names in a question are linked by spelling too; its other words find entities by
// BM25, see kit.Kit.Find.
package fastgraphrag
