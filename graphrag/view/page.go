// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

//go:embed ui third_party/*.js
var files embed.FS

// frame holds the data of the page's template.
type frame struct {
	Title, Note, Policy string
	Style               template.CSS
}

// WriteHTML writes the page as one self-contained file. Equal views have equal bytes. It returns an error of w.
func (v *View) WriteHTML(w io.Writer) error {
	var err error
	read := func(name string) string {
		data, e := files.ReadFile(name)
		if err == nil {
			err = e
		}
		return string(data)
	}
	scripts := []string{
		read("third_party/graphology.umd.min.js"), read("third_party/sigma.min.js"),
		"(() => {\n\"use strict\";\n" + read("ui/draw.js") + read("ui/view.js") + "start();\n})();\n",
	}
	style := read("ui/view.css")
	page, e := template.New("view").Parse(read("ui/view.html"))
	if err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("view: read the page's files: %w", err)
	}
	policy := "default-src 'none'; style-src " + hash(style) + "; img-src data: blob:; base-uri 'none'; form-action 'none'; script-src"
	for _, s := range scripts {
		policy += " " + hash(s)
	}
	b := bufio.NewWriter(w)
	if err := page.Execute(b, frame{v.title, v.note, policy, template.CSS(style)}); err != nil {
		return fmt.Errorf("view: write page: %w", err)
	}
	for id, piece := range []any{v.drawn(), v.details()} {
		packed, err := pack(piece)
		if err != nil {
			return fmt.Errorf("view: compress data: %w", err)
		}
		fmt.Fprintf(b, "<script type=\"application/gzip\" id=\"piece%d\">%s</script>\n", id, packed)
	}
	for _, s := range scripts {
		fmt.Fprintf(b, "<script>%s</script>\n", s)
	}
	b.WriteString("</body>\n</html>\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("view: write page: %w", err)
	}
	return nil
}

// hash returns the name of a script or style for a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pack encodes a value as compressed JSON in base64.
func pack(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// drawing holds the numbers that the page draws, as columns.
type drawing struct {
	Names       []string `json:"names"`
	X           []int32  `json:"x"` // coordinates in ten-thousandths
	Y           []int32  `json:"y"`
	Community   []int32  `json:"community"`
	Mark        []int32  `json:"mark,omitempty"` // relevance in percent
	Communities []string `json:"communities"`
	From        []int32  `json:"from"` // nodes that edges connect
	To          []int32  `json:"to"`
	Question    string   `json:"question,omitempty"`
	Answer      string   `json:"answer,omitempty"`
}

func (v *View) drawn() drawing {
	d := drawing{Communities: v.communities}
	if v.asked != nil {
		d.Question, d.Answer = paragraph(v.asked.Question), paragraph(v.asked.Answer)
	}
	for _, n := range v.nodes {
		d.Names = append(d.Names, n.name)
		d.X, d.Y = append(d.X, int32(math.Round(1e4*n.x))), append(d.Y, int32(math.Round(1e4*n.y)))
		d.Community = append(d.Community, n.community)
		if v.asked != nil {
			d.Mark = append(d.Mark, int32(math.Round(100*n.mark)))
		}
	}
	for e := range v.graph.Edges() {
		d.From, d.To = append(d.From, e.From), append(d.To, e.To)
	}
	return d
}

// details holds the texts of the page, which the page unpacks when it first needs them.
type details struct {
	Kinds []string   `json:"kinds"`
	About [][]string `json:"about"`
	Pages []string   `json:"pages"`
	Facts []fact     `json:"facts"`
}

func (v *View) details() details {
	t := details{Pages: v.pages, Facts: v.facts}
	for _, n := range v.nodes {
		t.Kinds, t.About = append(t.Kinds, n.kind), append(t.About, n.about)
	}
	return t
}

// The size of a picture, and the number of nodes with labels.
const (
	pictureSide = 1400
	pictureEdge = 60 // margin on each side
	namedNodes  = 40
	letter      = 8 // about the width of a letter
)

// colours are the colours of the largest communities, which are then repeated. People with red-green colour
// blindness can distinguish them (Okabe and Ito 2008, and shades of them). draw.js has the same list.
var colours = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a68a6", "#8c8c00", "#00a0a0", "#a6611a", "#5e81ac", "#b5739d"}

// otherColour is the colour of the communities after the first maxColoured.
const (
	otherColour = "#9aa3af"
	maxColoured = 24
)

// radius returns the radius of a node, which grows with its degree and its relevance to the answer.
func (v *View) radius(n int32) float64 {
	r := 2 + 1.1*math.Sqrt(float64(v.graph.Degree(n)))
	if v.asked != nil {
		r *= .6 + 1.6*v.nodes[n].mark
	}
	return min(r, 26)
}

// WriteSVG writes a picture of the whole view on a light background, with the names of the
// largest nodes. It returns the first error of w.
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
		fill := otherColour
		if c := v.nodes[n].community; c < maxColoured {
			fill = colours[int(c)%len(colours)]
		}
		fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=%q/>\n", x, y, v.radius(order[n]), fill)
	}
	b.WriteString("</g>\n<g text-anchor=\"middle\" fill=\"#1c2128\" stroke=\"#fdfdfc\" stroke-width=\"3\" paint-order=\"stroke\">\n")
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(v.radius(b), v.radius(a)) })
	var taken [][3]float64 // left end, right end and base line of each label
	for _, n := range order[:min(namedNodes, len(order))] {
		x, y := at(n)
		half := letter / 2 * float64(utf8.RuneCountInString(v.nodes[n].name))
		x, y = max(half, min(x, pictureSide-half)), y-v.radius(n)-4
		if slices.ContainsFunc(taken, func(t [3]float64) bool { return x-half < t[1] && t[0] < x+half && math.Abs(y-t[2]) < 16 }) {
			continue // it would cover the label of a larger node
		}
		taken = append(taken, [3]float64{x - half, x + half, y})
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, y, html.EscapeString(v.nodes[n].name))
	}
	b.WriteString("</g>\n</svg>\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("view: write picture: %w", err)
	}
	return nil
}

// The settings of ForceAtlas2: its LinLog mode, which separates communities (A. Noack 2007), and its strong
// gravity, which grows with the distance and so keeps the many small components of an extracted graph near the
// large one.
const (
	repulsion  = 10.0
	gravity    = 1.0
	attraction = 20.0
	tolerance  = 1.0 // of swinging, "jitter tolerance"
	openAngle  = 1.2 // the parameter theta of Barnes and Hut
)

// golden is the angle that spreads points evenly over a disc (Vogel 1979).
var golden = math.Pi * (3 - math.Sqrt(5))

// layout returns coordinates, which depend only on the graph and the communities.
func layout(ctx context.Context, g *graph.Graph, community []int32) (x, y []float64, err error) {
	x, y = spread(community)
	l := &forces{g: g, x: x, y: y, fx: make([]float64, g.N()), fy: make([]float64, g.N()), lastX: make([]float64, g.N()), lastY: make([]float64, g.N()), mass: make([]float64, g.N()), speed: 1}
	for v := range l.mass {
		l.mass[v] = float64(g.Degree(int32(v))) + 1
	}
	for range min(250, 50+1_200_000/max(g.N(), 1)) { // few steps for a large graph, since nodes start near their community
		if err := l.step(ctx); err != nil {
			return nil, nil, err
		}
	}
	return x, y, nil
}

// spread returns start coordinates: communities on a disc, the largest in the middle, and the nodes of each
// community on a disc of its own.
func spread(community []int32) (x, y []float64) {
	x, y = make([]float64, len(community)), make([]float64, len(community))
	var size []int
	for _, c := range community {
		for int(c) >= len(size) {
			size = append(size, 0)
		}
		size[c]++
	}
	const gap = 12.0
	before, placed := 0, make([]int, len(size))
	centre := make([][2]float64, len(size))
	for c, n := range size {
		r, angle := gap*math.Sqrt(float64(before)+float64(n)/2), golden*float64(c)
		if c == 0 {
			r = 0
		}
		centre[c] = [2]float64{r * math.Cos(angle), r * math.Sin(angle)}
		before += n
	}
	for v, c := range community {
		r, angle := gap/2*math.Sqrt(float64(placed[c])), golden*float64(placed[c])
		x[v], y[v] = centre[c][0]+r*math.Cos(angle), centre[c][1]+r*math.Sin(angle)
		placed[c]++
	}
	return x, y
}

// forces is the state of the layout.
type forces struct {
	g            *graph.Graph
	x, y         []float64
	fx, fy       []float64
	lastX, lastY []float64
	mass         []float64
	speed        float64
	tree         tree
}

// step moves every node once. The forces on a node are summed in an order that does not depend on concurrency.
func (l *forces) step(ctx context.Context) error {
	l.tree.build(l.x, l.y, l.mass)
	copy(l.lastX, l.fx)
	copy(l.lastY, l.fy)
	n := len(l.x)
	err := par.Ranges(ctx, n, 512, par.Workers(0), func(_, lo, hi int) error {
		for v := lo; v < hi; v++ {
			l.fx[v], l.fy[v] = l.force(int32(v))
		}
		return nil
	})
	if err != nil {
		return err
	}
	swinging, traction := 0.0, 0.0
	for v := range n {
		swinging += l.mass[v] * math.Hypot(l.fx[v]-l.lastX[v], l.fy[v]-l.lastY[v])
		traction += l.mass[v] * math.Hypot(l.fx[v]+l.lastX[v], l.fy[v]+l.lastY[v]) / 2
	}
	if swinging > 0 {
		l.speed = min(tolerance*tolerance*traction/swinging*math.Sqrt(float64(n))/10, 1.5*l.speed)
	}
	for v := range n {
		swing := l.mass[v] * math.Hypot(l.fx[v]-l.lastX[v], l.fy[v]-l.lastY[v])
		factor := l.speed / (1 + math.Sqrt(l.speed*swing))
		if f := math.Hypot(l.fx[v], l.fy[v]); f > 0 {
			factor = min(factor, 10/f) // limits the length of a move
		}
		l.x[v] += l.fx[v] * factor
		l.y[v] += l.fy[v] * factor
	}
	return nil
}

// force returns the sum of the forces on a node.
func (l *forces) force(v int32) (fx, fy float64) {
	x, y := l.x[v], l.y[v]
	fx, fy = l.tree.repel(x, y, l.mass[v])
	for _, w := range l.g.Neighbors(v) {
		dx, dy := l.x[w]-x, l.y[w]-y
		if d := math.Sqrt(dx*dx + dy*dy); d > 0 {
			f := attraction * math.Log1p(d) / d
			fx += f * dx
			fy += f * dy
		}
	}
	return fx - gravity*l.mass[v]*x, fy - gravity*l.mass[v]*y
}

// tree is the quadtree of Barnes and Hut: squares that contain several nodes are divided.
type tree struct{ cells []cell }

// cell is a square. A leaf contains at most one node, or at maxDepth several that nearly coincide.
type cell struct {
	x, y, half float64 // center, and half of the side length
	mass       float64
	mx, my     float64 // center of mass; times mass while the tree is built
	child      int32   // index of the first of four children, 0 for a leaf
}

// maxDepth limits the division of squares whose nodes nearly coincide.
const maxDepth = 24

func (t *tree) build(x, y, mass []float64) {
	half := 1.0
	for v := range x {
		half = max(half, math.Abs(x[v]), math.Abs(y[v]))
	}
	t.cells = append(t.cells[:0], cell{half: half})
	for v := range x {
		t.add(x[v], y[v], mass[v])
	}
	for i := range t.cells {
		if c := &t.cells[i]; c.mass > 0 {
			c.mx /= c.mass
			c.my /= c.mass
		}
	}
}

func (t *tree) add(x, y, mass float64) {
	at := int32(0)
	for depth := 0; ; depth++ {
		c := &t.cells[at]
		empty := c.mass == 0
		if c.child == 0 && !empty && depth < maxDepth {
			t.divide(at)
			c = &t.cells[at]
		}
		c.mass += mass
		c.mx += mass * x
		c.my += mass * y
		if c.child == 0 {
			return
		}
		at = c.child + c.quarter(x, y)
	}
}

// divide gives a leaf four children, and moves its nodes to one of them.
func (t *tree) divide(at int32) {
	c := &t.cells[at]
	c.child = int32(len(t.cells))
	x, y, h := c.x, c.y, c.half/2
	mass, mx, my := c.mass, c.mx, c.my
	into := c.child + c.quarter(mx/mass, my/mass)
	t.cells = append(t.cells,
		cell{x: x - h, y: y - h, half: h}, cell{x: x + h, y: y - h, half: h},
		cell{x: x - h, y: y + h, half: h}, cell{x: x + h, y: y + h, half: h})
	t.cells[into].mass, t.cells[into].mx, t.cells[into].my = mass, mx, my
}

func (c *cell) quarter(x, y float64) int32 {
	q := int32(0)
	if x > c.x {
		q++
	}
	if y > c.y {
		q += 2
	}
	return q
}

// repel returns the repulsion of a node by all other nodes.
func (t *tree) repel(x, y, mass float64) (fx, fy float64) {
	var stack [4 * (maxDepth + 1)]int32
	n := 1 // the root
	for n > 0 {
		n--
		c := &t.cells[stack[n]]
		if c.mass == 0 {
			continue
		}
		dx, dy := x-c.mx, y-c.my
		d2 := dx*dx + dy*dy
		if c.child != 0 && 4*c.half*c.half > openAngle*openAngle*d2 {
			for q := range int32(4) {
				stack[n] = c.child + q
				n++
			}
			continue
		}
		if d2 > 1e-9 { // a node does not repel itself
			f := repulsion * mass * c.mass / d2
			fx += dx * f
			fy += dy * f
		}
	}
	return fx, fy
}

// few is the largest number of nodes for which overlaps are removed.
const few = 1_000

// separate moves overlapping nodes apart within the unit square.
func separate(x, y []float64) {
	if len(x) > few {
		return
	}
	least := min(.05, .5/math.Sqrt(float64(len(x)+1)))
	for range 60 {
		moved := false
		for i := range x {
			for j := range i {
				dx, dy := x[i]-x[j], y[i]-y[j]
				d := math.Hypot(dx, dy)
				if d >= least {
					continue
				}
				if d < 1e-9 { // they coincide: their numbers decide the direction
					dx, dy, d = least/2*math.Cos(golden*float64(i)), least/2*math.Sin(golden*float64(i)), least/2
				}
				push := (least - d) / 2
				x[i], y[i] = x[i]+push*dx/d, y[i]+push*dy/d
				x[j], y[j] = x[j]-push*dx/d, y[j]-push*dy/d
				moved = true
			}
		}
		if !moved {
			return
		}
	}
}
