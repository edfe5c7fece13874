// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ReadGraphML reads a graph written as GraphML, also by networkx, igraph and yEd.
// Nodes are numbered in the order in which the file first names them. Weights
// are the edge attribute [ReadOptions.Weight], labels the node attribute "label"
// or yEd's node labels; other node attributes become columns, other attributes
// of edges and the graph are passed over. Groups are nodes, and what is inside of
// them belongs to the one graph. Hyperedges and entities of a DTD are errors.
// Errors wrap [ErrFormat] or [ErrEdge] and tell the line. Memory is in proportion
// to the file; bound that with an [io.LimitReader] where it comes from strangers.
func ReadGraphML(r io.Reader, opts ReadOptions) (*File, error) {
	if opts.Weight == "" {
		opts.Weight = "weight"
	}
	x := &graphml{decoder: xml.NewDecoder(r), opts: opts, assembly: newAssembly(), keys: map[string]*key{}}
	x.decoder.CharsetReader = func(charset string, input io.Reader) (io.Reader, error) {
		if strings.EqualFold(charset, "us-ascii") || strings.EqualFold(charset, "ascii") {
			return input, nil
		}
		return nil, fmt.Errorf("encoding %.40q: write the file as UTF-8", charset)
	}
	if err := x.read(); err != nil {
		line, _ := x.decoder.InputPos()
		return nil, fmt.Errorf("graph: GraphML, line %d: %w", line, err)
	}
	x.defaults()
	f, err := x.file(x.directed, opts)
	if err != nil {
		return nil, fmt.Errorf("graph: GraphML: %w", err)
	}
	return f, nil
}

// key is an attribute that the file declares.
type key struct {
	name, domain, kind string
	def                string
	hasDefault         bool
}

func (k *key) is(domain string) bool {
	return k.domain == domain || k.domain == "all" || k.domain == ""
}

func (k *key) numeric() bool {
	return slices.Contains([]string{"int", "long", "float", "double"}, k.kind)
}

// graphml is the state of a reading: the elements that are open, and the node or
// edge that is.
type graphml struct {
	*assembly
	decoder  *xml.Decoder
	opts     ReadOptions
	keys     map[string]*key
	order    []*key
	directed bool

	open  []string
	nodes []int32 // the open nodes, groups outside
	data  *key    // of the open data element
	key   *key    // the open declaration
	text  strings.Builder

	inEdge                   bool
	source, target, weight   string
	sawGraphML, graphs, deep bool
}

// maxDepth of elements; groups of yEd take three each.
const maxDepth = 1000

func (x *graphml) read() error {
	for {
		token, err := x.decoder.Token()
		if errors.Is(err, io.EOF) {
			if !x.sawGraphML {
				return fmt.Errorf("%w: no graphml element", ErrFormat)
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if len(x.open) == maxDepth {
				return fmt.Errorf("%w: elements nested deeper than %d", ErrFormat, maxDepth)
			}
			err = x.start(token)
			x.open = append(x.open, token.Name.Local)
		case xml.CharData:
			if x.data != nil || x.key != nil {
				x.text.Write(token)
			}
		case xml.EndElement:
			x.open = x.open[:len(x.open)-1]
			err = x.end(token.Name.Local)
		}
		if err != nil {
			return err
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (x *graphml) start(e xml.StartElement) error {
	if len(x.open) == 0 {
		if e.Name.Local != "graphml" {
			return fmt.Errorf("%w: the document is a %.40q, not graphml", ErrFormat, e.Name.Local)
		}
		x.sawGraphML = true
		return nil
	}
	if x.data != nil {
		// yEd draws nodes in elements of its own; the label is their text.
		if e.Name.Local == "NodeLabel" {
			x.text.Reset()
			x.deep = true
		}
		return nil
	}
	switch e.Name.Local {
	case "key":
		return x.declareKey(e)
	case "default", "desc", "data", "port", "locator":
	case "graph":
		if x.graphs && len(x.nodes) == 0 {
			return fmt.Errorf("%w: a second graph", ErrFormat)
		}
		x.graphs = true
		x.directed = x.directed || attribute(e, "edgedefault") == "directed"
	case "node":
		u, err := x.declare(attribute(e, "id"))
		x.nodes = append(x.nodes, u)
		return err
	case "edge":
		if x.inEdge {
			return fmt.Errorf("%w: an edge inside of an edge", ErrFormat)
		}
		x.directed = x.directed || attribute(e, "directed") == "true"
		x.inEdge, x.source, x.target, x.weight = true, attribute(e, "source"), attribute(e, "target"), ""
	case "hyperedge":
		return fmt.Errorf("%w: a hyperedge, which no graph of pairs holds", ErrFormat)
	}
	if e.Name.Local == "data" {
		x.data = x.keys[attribute(e, "key")]
		x.text.Reset()
		x.deep = false
		if x.data == nil && (x.inEdge || len(x.nodes) > 0) {
			return fmt.Errorf("%w: data of key %.40q, which is not declared", ErrFormat, attribute(e, "key"))
		}
	}
	if e.Name.Local == "default" {
		x.text.Reset()
	}
	return nil
}

func (x *graphml) declareKey(e xml.StartElement) error {
	id := attribute(e, "id")
	if x.keys[id] != nil {
		return fmt.Errorf("%w: key %.40q is declared twice", ErrFormat, id)
	}
	k := &key{name: attribute(e, "attr.name"), domain: attribute(e, "for"), kind: attribute(e, "attr.type")}
	if k.name == "" && attribute(e, "yfiles.type") == "" {
		k.name = id
	}
	x.keys[id], x.key = k, k
	x.order = append(x.order, k)
	return nil
}

func (x *graphml) end(name string) error {
	switch {
	case name == "data" && !slices.Contains(x.open, "data"):
		defer func() { x.data = nil }()
		if x.data != nil {
			x.take(x.data, x.text.String())
		}
	case x.data != nil:
		if name == "NodeLabel" && len(x.nodes) > 0 && !x.inEdge {
			x.label(x.nodes[len(x.nodes)-1], strings.TrimSpace(x.text.String()))
		}
	case name == "key":
		x.key = nil
	case name == "default" && x.key != nil:
		x.key.def, x.key.hasDefault = x.text.String(), true
	case name == "node":
		x.nodes = x.nodes[:len(x.nodes)-1]
	case name == "edge":
		x.inEdge = false
		weight := x.weight
		if weight == "" {
			weight = x.defaultWeight()
		}
		return x.edge(x.source, x.target, weight)
	}
	return nil
}

// take gives the value of an attribute to the open edge or node.
func (x *graphml) take(k *key, value string) {
	switch {
	case x.inEdge:
		if k.is("edge") && k.name == x.opts.Weight {
			x.weight = value
		}
	case len(x.nodes) == 0 || k.name == "" || !k.is("node") || x.deep:
	default:
		x.give(x.nodes[len(x.nodes)-1], k, value)
	}
}

func (x *graphml) give(u int32, k *key, value string) {
	if k.name == "label" {
		x.label(u, value)
		return
	}
	x.attribute(u, k.name, value, k.numeric())
}

func (x *graphml) defaultWeight() string {
	for _, k := range x.order {
		if k.is("edge") && k.name == x.opts.Weight && k.hasDefault {
			return k.def
		}
	}
	return ""
}

// defaults gives nodes what their file leaves out because it is the default.
func (x *graphml) defaults() {
	for _, k := range x.order {
		if !k.hasDefault || k.domain != "node" || k.name == "" || k.def == "" {
			continue
		}
		values := x.labels
		if k.name != "label" {
			values = nil
			if c := x.column[k.name]; c != nil {
				values = c.values
			}
		}
		for u := range int32(len(x.ids)) {
			if int(u) >= len(values) || values[u] == "" {
				x.give(u, k, k.def)
			}
		}
	}
}
