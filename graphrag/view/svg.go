// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
)

// The size of a picture, and how many nodes have their names in it.
const (
	pictureSide = 1400
	pictureEdge = 60 // around
	namedNodes  = 40
)

// colours are those of the largest communities, then repeated; they are told apart by
// people who see no red or green, too (Okabe and Ito 2008, and shades of them). draw.js
// has the same.
var colours = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a68a6", "#8c8c00", "#00a0a0", "#a6611a", "#5e81ac", "#b5739d"}

// otherColour is that of the communities after the first maxColoured.
const (
	otherColour = "#9aa3af"
	maxColoured = 24
)

func colour(community int32) string {
	if community >= maxColoured {
		return otherColour
	}
	return colours[int(community)%len(colours)]
}

// radius is how large a node is drawn, by its neighbours and what it weighed in an answer.
func (v *View) radius(n int32) float64 {
	r := 2 + 1.1*math.Sqrt(float64(v.graph.Degree(n)))
	if v.asked != nil {
		r *= .6 + 1.6*v.nodes[n].mark
	}
	return min(r, 26)
}

// WriteSVG writes a picture of the whole view, with the names of the largest nodes, on
// light ground. It returns the first error of w.
func (v *View) WriteSVG(w io.Writer) error {
	b := bufio.NewWriter(w)
	at := func(n int32) (x, y float64) {
		const scale = pictureSide - 2*pictureEdge
		return pictureEdge + scale*v.nodes[n].x, pictureEdge + scale*(1-v.nodes[n].y)
	}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="14">`+"\n", pictureSide, pictureSide)
	fmt.Fprintf(b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fdfdfc\"/>\n<g stroke=\"#8b95a3\" stroke-opacity=\".3\" stroke-width=\".8\">\n", html.EscapeString(v.title))
	for e := range v.graph.Edges() {
		x1, y1 := at(e.From)
		x2, y2 := at(e.To)
		fmt.Fprintf(b, "<path d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x1, y1, x2, y2)
	}
	b.WriteString("</g>\n<g stroke=\"#fdfdfc\" stroke-width=\".8\">\n")
	order := make([]int32, len(v.nodes))
	for n := range order {
		order[n] = int32(n)
		x, y := at(order[n])
		fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=%q/>\n", x, y, v.radius(order[n]), colour(v.nodes[n].community))
	}
	b.WriteString("</g>\n<g text-anchor=\"middle\" fill=\"#1c2128\" stroke=\"#fdfdfc\" stroke-width=\"3\" paint-order=\"stroke\">\n")
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(v.radius(b), v.radius(a)) })
	for _, n := range order[:min(namedNodes, len(order))] {
		x, y := at(n)
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, y-v.radius(n)-4, html.EscapeString(v.nodes[n].name))
	}
	b.WriteString("</g>\n</svg>\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("view: %w", err)
	}
	return nil
}
