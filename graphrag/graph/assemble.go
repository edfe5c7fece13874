// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// assembly collects the nodes and edges of a file. Edges may name nodes before
// they appear.
type assembly struct {
	ids     []string
	number  map[string]int32
	known   []bool // was the node itself seen
	edges   []Edge
	labels  []string
	columns []*rawColumn
	column  map[string]*rawColumn
}

// rawColumn holds what a file says of an attribute; values end at the last node
// that has one.
type rawColumn struct {
	name    string
	numeric bool
	values  []string
}

func newAssembly() *assembly {
	return &assembly{number: map[string]int32{}, column: map[string]*rawColumn{}}
}

// node returns the number of an ID.
func (a *assembly) node(id string) (int32, error) {
	if u, ok := a.number[id]; ok {
		return u, nil
	}
	if len(a.ids) == math.MaxInt32 {
		return 0, fmt.Errorf("%w: more than %d nodes", ErrFormat, math.MaxInt32)
	}
	u := int32(len(a.ids))
	a.number[id] = u
	a.ids = append(a.ids, id)
	a.known = append(a.known, false)
	return u, nil
}

// declare returns the number of a node that the file lists.
func (a *assembly) declare(id string) (int32, error) {
	u, err := a.node(id)
	if err != nil {
		return 0, err
	}
	if a.known[u] {
		return 0, fmt.Errorf("%w: node %.100q appears twice", ErrFormat, id)
	}
	a.known[u] = true
	return u, nil
}

func (a *assembly) edge(from, to, weight string) error {
	u, err := a.node(from)
	if err != nil {
		return err
	}
	v, err := a.node(to)
	if err != nil {
		return err
	}
	w := 1.0
	if weight != "" {
		w, err = strconv.ParseFloat(strings.TrimSpace(weight), 64)
		if err != nil || !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("%w: %.100q–%.100q weighs %.100q, not a finite number of 0 or more", ErrEdge, from, to, weight)
		}
	}
	a.edges = append(a.edges, Edge{u, v, w})
	return nil
}

func (a *assembly) label(u int32, text string) { a.labels = put(a.labels, u, text) }

func (a *assembly) attribute(u int32, name, value string, numeric bool) {
	c := a.column[name]
	if c == nil {
		c = &rawColumn{name: name, numeric: true}
		a.column[name] = c
		a.columns = append(a.columns, c)
	}
	c.numeric = c.numeric && numeric
	c.values = put(c.values, u, value)
}

func put(values []string, u int32, value string) []string {
	if missing := int(u) + 1 - len(values); missing > 0 {
		values = append(values, make([]string, missing)...)
	}
	values[u] = value
	return values
}

// file builds the graph.
func (a *assembly) file(directed bool, opts ReadOptions) (*File, error) {
	for u, known := range a.known {
		if !known {
			return nil, fmt.Errorf("%w: an edge names node %.100q, which is nowhere", ErrFormat, a.ids[u])
		}
	}
	n := len(a.ids)
	g, err := New(n, a.edges, Options{Precision: opts.Precision})
	if err != nil {
		return nil, err
	}
	f := &File{Graph: g, Directed: directed, Nodes: Nodes{IDs: a.ids}}
	if a.ids == nil {
		f.Nodes.IDs = []string{}
	}
	if a.labels != nil {
		f.Nodes.Labels = pad(a.labels, n)
	}
	for _, c := range a.columns {
		f.Nodes.Columns = append(f.Nodes.Columns, columnOf(c.name, c.numeric, pad(c.values, n)))
	}
	return f, nil
}

func pad(values []string, n int) []string { return append(values, make([]string, n-len(values))...) }
