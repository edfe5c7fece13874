// SPDX-License-Identifier: Apache-2.0

// Package view shows a knowledge graph: entities in the colours of their communities, with
// the facts about each, the sentences that say so and the pages these stand on. A
// [View] is written as one HTML file that needs nothing else, no server and no network
// ([View.WriteHTML]), or as a picture ([View.WriteSVG]).
//
//	v, err := view.New(ctx, system.Graph(), view.Options{Title: "my pages", Chunks: system.Get})
//	err = v.WriteHTML(w)
//
// Of a question, [Options].Asked, it shows what led to the answer: the entities of what
// was found, the heavier the higher it was ranked, and their neighbours.
//
// Communities are Leiden's (package community). Places are computed here by ForceAtlas2
// (M. Jacomy and others, PLoS ONE 9(6), 2014), so that equal graphs give equal files.
//
// All texts are somebody else's: they are cut to the limits of this package, lose what
// steers a terminal or turns the direction of reading, and become text nodes, never
// markup. The page's policy lets no script and no style run but its own.
package view
