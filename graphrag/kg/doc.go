// SPDX-License-Identifier: Apache-2.0

// Package kg is the knowledge graph: entities with their names, types, descriptions and attributes, the
// relations between them, and the passages that say so.
//
//	base, err := kg.NewBase(kg.Options{})
//	err = base.Insert(extractions...) // of package extract, one for each chunk
//	graph, err := base.Graph(ctx)
//	view, err := graph.View(kg.ViewOptions{Passages: true}) // for PageRank: view.Graph
//
// Knowledge comes in as an [Extraction] per chunk, made by package extract or any other program, and is kept
// in a [Base]. [Base.Graph] merges all of them: it folds the names, gathers the texts
// about each entity and each relation, and keeps for all of it the passages it is from. The result, a
// [Graph], is a function of the extractions and the options alone. So inserting in another order, twice, or
// in parts gives the same graph, and deleting a document gives exactly the graph that never held it.
//
// # One entity, many names
//
// Names that differ in case, spacing, quotes and outer punctuation are one by [Folding]. Names that differ
// more stay two entities; package link finds pairs that are similar, as synonyms for [ViewOptions], which
// is how HippoRAG uses them (arXiv 2405.14831).
//
// Nothing is lost silently: a name that is blank or too long, and a fact with
// such a name, is in [Graph.Rejected] with the reason.
//
// # Graphs of numbers
//
// [Graph.View] makes the weighted graph on which PageRank, communities and
// paths work: entities, and passages if wanted, as nodes 0..n-1.
//
// # Files
//
// [Extraction] has a JSON form. A base is saved by encoding [Base.Extractions], one a line, and
// restored by inserting them.
package kg
