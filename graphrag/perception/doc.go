// SPDX-License-Identifier: Apache-2.0

// Package perception finds communities of the entities of a knowledge graph by relations and meaning, as
// Youtu-GraphRAG does ("Youtu-GraphRAG: Vertically Unified Agents for Graph Retrieval-Augmented Complex
// Reasoning", arXiv 2508.19855, section 3.2). Clusters of the entities' vectors, which [EntityVectors]
// makes by equation 4, are merged by the dual-perception score of equations 5 to 7. Where the paper leaves
// a number open, there is an option with a default. [NewTree] names the communities and builds the tree of
// knowledge on its four levels: attributes, facts, keywords of communities, communities.
//
// A result depends on the arguments alone, not on the order of the triples or the number of processors.
package perception
