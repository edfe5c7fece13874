// SPDX-License-Identifier: Apache-2.0

// Package lightrag is LightRAG (Guo and others, arXiv 2410.05779): entities and
// relations with descriptions, found by two levels of keywords. Low-level
// keywords name things and find entities with their relations; high-level
// keywords name themes and find relations with their ends. The chunks of both
// are read.
//
// The algorithm follows HKUDS/LightRAG 1.5.7, in four modes: [Hybrid] uses both
// levels and is the default, [Local] and [Global] use one level, and [Mix] adds
// chunks similar to the question. The fifth, naive, reads such chunks alone: package
// flat has it, as naiverag. [Options].Paper is the algorithm of the paper (commit
// 32464fa).
//
// Indexing takes one call per chunk, for entities and relations, a second one if the
// first reply was cut (the code always asks again: [Options].AlwaysGlean), and one for
// each entity or pair with eight descriptions, or 1,200 tokens of them. A question
// takes one call for its keywords, and one to read.
//
// Where this differs from the code, and why:
//
//   - Names that differ in case, in blanks or in quotes around them are one entity.
//   - A relation whose keyword is "entity" or "relation" is read; the code takes the
//     keyword for the beginning of a record.
//   - Relations with an end that is neither listed nor in the passage are rejected;
//     the code makes an entity of it. Many descriptions are condensed once, from all
//     of them, not at the eighth and again later.
//   - Local and Global use the other level if theirs finds nothing; the code does so
//     if it has no keyword.
//   - The order of the chunks' IDs decides which descriptions are first and which 200
//     chunks of an entity are kept (in the code, time), so that the graph does not
//     depend on the order of documents.
//   - Question.K decides how many chunks are read; the code reads 20. There is no
//     reranker.
//   - With Paper, the lists of both levels are interleaved; the code loses their
//     order. Relations are extracted without a strength, as in 1.5.7.
//
// Offline, rules find entities and relations, and the sentences that name them
// describe them, see extract.Linked; many descriptions are cut to their central
// sentences. The names in a question are its low-level keywords, its other content
// words the high-level ones. Entities, relations and chunks are found by BM25, see
// kit.Kit.Find.
package lightrag
