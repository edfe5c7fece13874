// SPDX-License-Identifier: Apache-2.0

// Package view shows a knowledge graph: entities in the colours of their communities, with the facts about
// each, and the sentences and pages that state them. A [View] is written as one HTML file that needs no
// server and no network ([View.WriteHTML]), or as a picture ([View.WriteSVG]).
//
//	v, err := view.New(ctx, system.Graph(), view.Options{Title: "my pages", Chunks: chunksOf})
//	err = v.WriteHTML(w)
//
// With a question, [Options].Asked, it shows what led to the answer: the entities of the
// retrieved passages, weighted by rank, and their neighbours.
//
// Communities are found by Leiden (package community), coordinates by ForceAtlas2
// (M. Jacomy and others, PLoS ONE 9(6), 2014). Equal graphs give equal files.
//
// All texts are untrusted: they are cut to the limits of this package, lose control and
// bidirectional characters, and become text nodes, never markup. The content security
// policy of the page allows only its own script and style.
package view
