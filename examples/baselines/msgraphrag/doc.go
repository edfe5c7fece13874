// SPDX-License-Identifier: Apache-2.0

// Package msgraphrag is Microsoft's GraphRAG (Edge and others, "From Local to
// Global: A Graph RAG Approach to Query-Focused Summarization", arXiv
// 2404.16130, and microsoft/graphrag, v3.1.2, reports as in v0.3.0): a graph of
// described entities, a hierarchy of communities in it, and a report about each.
//
// [NewLocal] answers from the neighbourhood of the entities nearest to the question,
// [NewGlobal] from all reports by map and reduce, [NewDrift] from reports and then
// from neighbourhoods.
//
// Indexing takes one call per chunk, and a second one if the first reply was cut; one
// for each entity and each pair of entities with five descriptions or long ones, if
// they fit into one prompt; and one for each community whose report is read. A local
// question takes one call, a global one a call for each batch of reports and one more;
// dynamic selection adds one for each report that is rated.
//
// Where this differs from the code, and why:
//
//   - The code always asks twice for records, makes one description of any two, and
//     writes reports that no search reads, which is 45 % of the cost of indexing.
//     [Options].AlwaysGlean, FoldFrom and AllReports do the same.
//   - Entities with the same name are merged, of any type, and keep all descriptions.
//     The code loses the descriptions of the second type.
//   - Every connected component has communities and reports, and its entities are
//     found; the code uses only the largest component, in its local search too.
//   - Inserting asks for the reports whose rows changed, and the index equals one
//     made from scratch. The code's update writes reports for the new text alone;
//     [Options].Stale is the compromise.
//   - Reports are made from the deepest level up: if rows do not fit, the reports of
//     the parts replace them. A report uses all edges inside, and shows members
//     without an edge. Version 3.1.2 does none of this.
//   - A report that fails is logged, and the reports above use the raw rows. If the
//     report of an entity's community is missing, the report above is used.
//   - Local search reads the 10 nearest entities. The code looks up 20, so that
//     some can be excluded, and then reads them all. At most Question.K chunks are
//     read. Chunks of equal rank are ordered by the number of selected entities in
//     them, then by similarity to the question.
//   - Global search reads a cover, the deepest community of each entity down to
//     Level, as in the paper. The code reads the parents too.
//   - The last call of each method is the kit's reader, the same for all systems.
//   - Everything random has a seed.
//
// Offline, rules find entities and relations, and the sentences that name them
// describe them (see extract.Linked); of many descriptions the central ones are kept,
// and reports quote. Global search reads the reports most similar to the question that
// fit. The documents of a report are the quoted ones.
package msgraphrag
