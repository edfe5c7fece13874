// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// The settings of ForceAtlas2: its LinLog mode, which sets communities apart (A. Noack
// 2007), and its strong gravity, which grows with the distance and so keeps the many
// small components of an extracted graph near the large one.
const (
	repulsion  = 10.0
	gravity    = .05
	attraction = 20.0
	tolerance  = 1.0 // of swinging, "jitter tolerance"
	openAngle  = 1.2 // Barnes and Hut's theta
)

// steps is how many steps a layout takes: places begin by community, so that a few settle
// a large graph.
func steps(nodes int) int {
	return min(250, 50+1_200_000/max(nodes, 1))
}

// golden is the angle that spreads points evenly over a disc (Vogel 1979).
var golden = math.Pi * (3 - math.Sqrt(5))

// layout gives each node a place. It depends on the graph and the communities alone.
func layout(ctx context.Context, g *graph.Graph, community []int32) (x, y []float64, err error) {
	x, y = spread(community)
	l := &forces{g: g, x: x, y: y, fx: make([]float64, g.N()), fy: make([]float64, g.N()), lastX: make([]float64, g.N()), lastY: make([]float64, g.N()), mass: make([]float64, g.N()), speed: 1}
	for v := range l.mass {
		l.mass[v] = float64(g.Degree(int32(v))) + 1
	}
	for range steps(g.N()) {
		if err := l.step(ctx); err != nil {
			return nil, nil, err
		}
	}
	return x, y, nil
}

// spread puts communities on a disc, the largest in the middle, and the nodes of each on a
// disc of its own.
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

// forces is a layout in progress.
type forces struct {
	g            *graph.Graph
	x, y         []float64
	fx, fy       []float64
	lastX, lastY []float64
	mass         []float64
	speed        float64
	tree         tree
}

// step moves every node once. Each adds up its forces in a fixed order, whatever the
// number of goroutines.
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
			factor = min(factor, 10/f) // no jumps
		}
		l.x[v] += l.fx[v] * factor
		l.y[v] += l.fy[v] * factor
	}
	return nil
}

// force is the sum of what pushes and pulls a node.
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

// tree is Barnes and Hut's: squares that are divided as long as they hold several nodes.
type tree struct{ cells []cell }

// cell is a square. A leaf has one place, where several nodes may be.
type cell struct {
	x, y, half float64 // middle, and half of a side
	mass       float64
	mx, my     float64 // centre of mass, times mass while it is built
	child      int32   // of four in a row, 0 for a leaf
}

// maxDepth ends the division of nodes that are nearly in one place.
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

// divide gives a leaf four children and what it holds to one of them.
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

// repel is the force of all nodes on one.
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
		if d2 > 1e-9 { // not itself
			f := repulsion * mass * c.mass / d2
			fx += dx * f
			fy += dy * f
		}
	}
	return fx, fy
}

// few is the number of nodes up to which they are kept apart.
const few = 1_000

// separate moves nodes that lie on each other apart, in a square of side 1.
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
				if d < 1e-9 { // in one place: apart by their numbers
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
