// SPDX-License-Identifier: Apache-2.0

// Package agent makes retrievers that plan and reflect of retrievers that search.
//
// [Decomposed] takes a question apart into sub-queries and has those searched side by side that do not wait
// for another; [Reflecting] looks at what was found and searches again until there is an answer, nothing
// new, or no more budget. Both are the agent of Youtu-GraphRAG (arXiv 2508.19855, section 3.3), and neither
// knows what a search is or who reflects: a model ([DecomposeByModel], [ReflectByModel]), rules, or a
// person. [AspectsByModel] names what an overview is made of.
//
// [Search] hands tools to a model that continues by itself ([NextByModel]): search over any retriever, find
// and read over raw pages, and answer. [Tools] are these tools for agents of others.
package agent
