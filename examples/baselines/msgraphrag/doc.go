// SPDX-License-Identifier: Apache-2.0

// Package msgraphrag is Microsoft's GraphRAG (Edge and others, "From Local to
// Global: A Graph RAG Approach to Query-Focused Summarization", arXiv
// 2404.16130, and microsoft/graphrag, v3.1.2, reports as in v0.3.0): a graph of
// described entities, a hierarchy of communities in it, and a report about each.
//
// [NewLocal] answers from the neighbourhood of the entities that are nearest to
// the question, [NewGlobal] from all reports by map and reduce, [NewDrift] from
// reports first and neighbourhoods then.
//
// Indexing takes one call per chunk, and a second where the model had to stop; one
// for each entity and each pair of entities with five descriptions or long ones, if
// they fit into one prompt; and one for each community whose report is read. A local
// question takes one call, a global one a call for each batch of reports and one
// more; with dynamic selection also one for each report that is looked at.
//
// Where this differs from the code, and why:
//
//   - The code always asks twice for records, makes one description of any two, and
//     writes reports that no search reads, which is 45 % of what it takes to index.
//     [Options].AlwaysGlean, FoldFrom and AllReports do the same.
//   - Entities are one by name, not by name and type, and have all descriptions.
//     The code loses those of the second type.
//   - Every connected component has communities and reports, and its entities are
//     found; the code leaves out all components but the largest, in its local
//     search too.
//   - Inserting asks for the reports whose rows changed, and the index equals one
//     made at once. The code's update writes reports for the new text alone;
//     [Options].Stale is the compromise.
//   - Reports are made from the deepest level up, so that those of the parts
//     stand in for what does not fit, from all edges inside, and members without
//     an edge are shown. In 3.1.2 none of this happens.
//   - A report that fails is logged, and the reports above use the raw rows.
//     Where the report of an entity's community is missing, the one above stands
//     in.
//   - Local search reads the 10 nearest entities. The code looks up 20, so that
//     some can be excluded, and then reads them all. At most Question.K chunks are
//     read. Chunks of equal rank are ordered by the number of
//     selected entities in them, then by likeness to the question.
//   - Global search reads a cover, the deepest community of each entity down to
//     Level, as in the paper. The code reads the parents too.
//   - The last call of each method is the kit's reader, the same for all systems.
//   - Everything random has a seed.
//
// Offline, entities and relations are found by rules and described by the
// sentences they stand in (see extract.Linked), what has many descriptions
// keeps the central ones, and reports quote. Global search reads the reports most
// like the question that fit. A report's documents are those it quotes.
package msgraphrag
