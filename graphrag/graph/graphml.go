// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Attributes say what is known of the nodes of a graph, for files. Everything is
// optional.
type Attributes struct {
	// IDs of the nodes in the file, all different. Without them the writers
	// number nodes: n0, n1 and so on.
	IDs []string
	// Labels to show.
	Labels []string
	// Columns of further attributes.
	Columns []Column
}

// Column is an attribute of all nodes: either text, of which an empty one says
// nothing, or numbers, of which a NaN says nothing.
type Column struct {
	Name    string
	Text    []string
	Numbers []float64
}

// check compares the lengths with the number of nodes and looks for names used
// twice.
func (x Attributes) check(n int) error {
	var errs []error
	size := func(what string, got int) {
		if got != n {
			errs = append(errs, fmt.Errorf("graph: %d %s for %d nodes", got, what, n))
		}
	}
	if x.IDs != nil {
		size("IDs", len(x.IDs))
		seen := make(map[string]bool, len(x.IDs))
		for _, id := range x.IDs {
			if clean := printable(id); seen[clean] {
				errs = append(errs, fmt.Errorf("graph: two nodes with ID %.100q", clean))
				break
			}
			seen[printable(id)] = true
		}
	}
	if x.Labels != nil {
		size("labels", len(x.Labels))
	}
	names := map[string]bool{"label": true}
	for _, c := range x.Columns {
		switch {
		case c.Name == "" || names[c.Name]:
			errs = append(errs, fmt.Errorf("graph: column name %.100q is empty or taken", c.Name))
		case (c.Text == nil) == (c.Numbers == nil) && n > 0:
			errs = append(errs, fmt.Errorf("graph: column %.100q needs either text or numbers", c.Name))
		default:
			size("values of column "+strconv.Quote(c.Name), len(c.Text)+len(c.Numbers))
		}
		names[c.Name] = true
	}
	return errors.Join(errs...)
}

func (x Attributes) id(u int32) string {
	if x.IDs != nil {
		return x.IDs[u]
	}
	return "n" + strconv.Itoa(int(u))
}

// value returns the text of an attribute, and whether it says anything.
func (c Column) value(u int32) (string, bool) {
	if c.Numbers != nil {
		return number(c.Numbers[u]), !math.IsNaN(c.Numbers[u])
	}
	return c.Text[u], c.Text[u] != ""
}

func (c Column) kind() string {
	if c.Numbers != nil {
		return "double"
	}
	return "string"
}

// number writes a number as XML Schema does.
func number(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "INF"
	case math.IsInf(x, -1):
		return "-INF"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// printable replaces what XML 1.0 and UTF-8 have no way to write, control
// characters and broken encodings, by U+FFFD.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return r
		case r < ' ' || r == 0xFFFE || r == 0xFFFF:
			return utf8.RuneError
		}
		return r
	}, s)
}

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

func (g *Graph) weighted() bool { return g.weights32 != nil || g.weights64 != nil }
