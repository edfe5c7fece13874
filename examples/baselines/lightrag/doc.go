// SPDX-License-Identifier: Apache-2.0

// Package lightrag is LightRAG (Guo and others, arXiv 2410.05779): entities and
// relations with descriptions, found by two levels of keywords. Low-level
// keywords name things and find entities with their relations; high-level
// keywords name themes and find relations with their ends. The chunks of both
// are read.
//
// The algorithm is that of HKUDS/LightRAG 1.5.7, in four modes:
// [Hybrid] of both levels, which is the default, [Local] and [Global] of one of
// them, and [Mix] with chunks that are like the question. The fifth, naive, reads
// such chunks alone: package flat has it, as naiverag. [Options].Paper is the
// algorithm of the paper (commit 32464fa).
//
// Indexing takes one call per chunk, for entities and relations, and a second where
// the model had to stop before it had written all (the code always asks again:
// [Options].AlwaysGlean), and one for each entity or pair with eight descriptions, or
// 1,200 tokens of them. A question takes one call for its keywords, and one to read.
//
// Where this differs from the code, and why:
//
//   - Names that differ in case, in blanks or in quotes around them are one entity.
//   - A relation whose keyword is "entity" or "relation" is read; the code takes the
//     keyword for the beginning of a record.
//   - Relations with an end that neither is listed nor stands in the passage are
//     rejected; the code makes an entity of it. Many descriptions are condensed once,
//     of all of them, not at the eighth and again later.
//   - Local and Global use the other level where theirs finds nothing; the code
//     does so where it has no keyword.
//   - What the code decides by time, which descriptions come first and which 200
//     chunks of an entity are kept, is decided by the order of the chunks' IDs, so
//     that the graph does not depend on the order in which documents come.
//   - Question.K decides how many chunks are read; the code reads 20. There is no
//     reranker.
//   - With Paper, the lists of both levels take turns; the code loses their
//     order. Relations are extracted without a strength, like those of today.
//
// Offline, entities and relations are found by rules and described by the
// sentences they stand in, see extract.Linked; many descriptions are cut
// down to their central sentences. The names in a question are its low-level
// keywords, its other content words the high-level ones. Entities, relations and
// chunks are found by BM25, see kit.Kit.Find.
package lightrag
