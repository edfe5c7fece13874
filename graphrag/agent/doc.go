// SPDX-License-Identifier: Apache-2.0

// Package agent builds retrievers that plan and reflect from simpler retrievers.
//
// [Decomposed] splits a question into sub-queries, and searches concurrently for the ones that do not depend on
// another; [Reflecting] examines the results and searches again until it has an answer, finds nothing new, or
// has spent its budget. Together they are the agent of Youtu-GraphRAG (arXiv 2508.19855, section 3.3). The
// search is any function, and a model ([DecomposeByModel], [ReflectByModel]), rules or a person decide.
// [AspectsByModel] lists the aspects that an overview should cover.
//
// [Search] gives tools to a model that searches on its own ([NextByModel]): search by any retriever, find and
// read in raw pages, and answer. [Tools] implements these tools for other agents.
package agent
