// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
)

// printer writes and remembers the first error.
type printer struct{ *bufio.Writer }

func newPrinter(w io.Writer) printer { return printer{bufio.NewWriter(w)} }

// print writes strings; bufio keeps the error for Flush.
func (p printer) print(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// markup is s for XML, as text or in double quotes.
func markup(s string) string {
	var b strings.Builder
	// A strings.Builder does not fail.
	_ = xml.EscapeText(&b, []byte(printable(s)))
	return b.String()
}

// WriteGraphML writes the graph as GraphML, with the weights unless the graph is
// unweighted. Characters that XML cannot hold are replaced by U+FFFD.
func WriteGraphML(w io.Writer, g *Graph, nodes Attributes) error {
	if err := nodes.check(g.N()); err != nil {
		return err
	}
	p := newPrinter(w)
	p.print(xml.Header, `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">`, "\n")
	if nodes.Labels != nil {
		p.print(`<key id="label" for="node" attr.name="label" attr.type="string"/>`, "\n")
	}
	for i, c := range nodes.Columns {
		p.print(fmt.Sprintf(`<key id="d%d" for="node" attr.name="%s" attr.type="%s"/>`, i, markup(c.Name), c.kind()), "\n")
	}
	if g.weighted() {
		p.print(`<key id="weight" for="edge" attr.name="weight" attr.type="double"/>`, "\n")
	}
	p.print(`<graph edgedefault="undirected">`, "\n")
	for u := range int32(g.N()) {
		p.print(`<node id="`, markup(nodes.id(u)), `">`)
		if nodes.Labels != nil && nodes.Labels[u] != "" {
			p.print(`<data key="label">`, markup(nodes.Labels[u]), `</data>`)
		}
		for i, c := range nodes.Columns {
			if value, ok := c.value(u); ok {
				p.print(fmt.Sprintf(`<data key="d%d">`, i), markup(value), `</data>`)
			}
		}
		p.print("</node>\n")
	}
	for e := range g.Edges() {
		p.print(`<edge source="`, markup(nodes.id(e.From)), `" target="`, markup(nodes.id(e.To)), `">`)
		if g.weighted() {
			p.print(`<data key="weight">`, number(e.Weight), `</data>`)
		}
		p.print("</edge>\n")
	}
	p.print("</graph>\n</graphml>\n")
	return p.Flush()
}

// WriteDOT writes the graph in the language of Graphviz. Control characters and
// broken encodings are replaced by U+FFFD.
func WriteDOT(w io.Writer, g *Graph, nodes Attributes) error {
	if err := nodes.check(g.N()); err != nil {
		return err
	}
	p := newPrinter(w)
	p.print("graph {\n")
	for u := range int32(g.N()) {
		p.print("  ", quoted(nodes.id(u)))
		var attributes []string
		if nodes.Labels != nil {
			attributes = append(attributes, "label="+shown(nodes.Labels[u]))
		}
		for _, c := range nodes.Columns {
			if value, ok := c.value(u); ok {
				attributes = append(attributes, quoted(c.Name)+"="+quoted(value))
			}
		}
		if len(attributes) > 0 {
			p.print(" [", strings.Join(attributes, ", "), "]")
		}
		p.print(";\n")
	}
	for e := range g.Edges() {
		p.print("  ", quoted(nodes.id(e.From)), " -- ", quoted(nodes.id(e.To)))
		if g.weighted() {
			p.print(" [weight=", quoted(number(e.Weight)), "]")
		}
		p.print(";\n")
	}
	p.print("}\n")
	return p.Flush()
}

// A quoted string of DOT knows one escape, for its quote; a backslash is one. A
// label is an escString, where a backslash begins an escape. A backslash at the
// end would take the quote along, a line break is part of the string.
func quoted(s string) string {
	s = printable(s)
	if strings.HasSuffix(s, `\`) || strings.Contains(s, `\"`) {
		return shown(s)
	}
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}

func shown(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`).Replace(printable(s)) + `"`
}

// WriteJSON writes the graph in the node-link form of networkx and D3: an object
// with nodes, each with an id, and links, each with source, target and weight.
// Numbers that JSON cannot hold are written as strings, broken encodings
// replaced by U+FFFD.
func WriteJSON(w io.Writer, g *Graph, nodes Attributes) error {
	if err := nodes.check(g.N()); err != nil {
		return err
	}
	for _, c := range nodes.Columns {
		if c.Name == "id" {
			return fmt.Errorf("graph: column name %q is taken in JSON", c.Name)
		}
	}
	p := newPrinter(w)
	p.print(`{"directed": false, "multigraph": false, "graph": {}, "nodes": [`)
	for u := range int32(g.N()) {
		p.print(comma(u > 0), `{"id": `, jsonString(nodes.id(u)))
		if nodes.Labels != nil && nodes.Labels[u] != "" {
			p.print(`, "label": `, jsonString(nodes.Labels[u]))
		}
		for _, c := range nodes.Columns {
			value, ok := c.value(u)
			if !ok {
				continue
			}
			if c.Numbers == nil || math.IsInf(c.Numbers[u], 0) {
				value = jsonString(value)
			}
			p.print(", ", jsonString(c.Name), ": ", value)
		}
		p.print("}")
	}
	p.print(`], "links": [`)
	first := true
	for e := range g.Edges() {
		p.print(comma(!first), `{"source": `, jsonString(nodes.id(e.From)), `, "target": `, jsonString(nodes.id(e.To)))
		first = false
		if g.weighted() {
			p.print(`, "weight": `, number(e.Weight))
		}
		p.print("}")
	}
	p.print("]}\n")
	return p.Flush()
}

func comma(more bool) string {
	if more {
		return ",\n"
	}
	return "\n"
}

func jsonString(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // no string does this
		panic(err)
	}
	return string(b)
}

func (g *Graph) weighted() bool { return g.weights32 != nil || g.weights64 != nil }
