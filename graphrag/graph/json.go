// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ReadJSON reads a graph in the node-link form of networkx and D3, see
// [WriteJSON]. Links may also be called edges; names of nodes are strings or
// numbers. Attributes of nodes that are no string, number or boolean are kept as
// JSON text. Errors wrap [ErrFormat] or [ErrEdge].
func ReadJSON(r io.Reader, opts ReadOptions) (*File, error) {
	if opts.Weight == "" {
		opts.Weight = "weight"
	}
	f, err := readJSON(r, opts)
	if err != nil {
		return nil, fmt.Errorf("graph: JSON: %w", err)
	}
	return f, nil
}

func readJSON(r io.Reader, opts ReadOptions) (*File, error) {
	var doc struct {
		Directed     bool
		Nodes        []map[string]json.RawMessage
		Links, Edges []map[string]json.RawMessage
	}
	decoder := json.NewDecoder(r)
	if err := decoder.Decode(&doc); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: more text after the graph", ErrFormat)
	}
	a := newAssembly()
	for i, node := range doc.Nodes {
		if err := a.jsonNode(node); err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
	}
	for i, link := range append(doc.Links, doc.Edges...) {
		weight, _ := text(link[opts.Weight])
		from, ok := text(link["source"])
		to, ok2 := text(link["target"])
		if !ok || !ok2 {
			return nil, fmt.Errorf("%w: link %d needs a source and a target", ErrFormat, i)
		}
		if err := a.edge(from, to, weight); err != nil {
			return nil, fmt.Errorf("link %d: %w", i, err)
		}
	}
	return a.file(doc.Directed, opts)
}

func (a *assembly) jsonNode(node map[string]json.RawMessage) error {
	id, ok := text(node["id"])
	if !ok {
		return fmt.Errorf("%w: no id", ErrFormat)
	}
	u, err := a.declare(id)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(node))
	for name := range node {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value, ok := text(node[name])
		switch {
		case name == "id" || !ok:
		case name == "label":
			a.label(u, value)
		default:
			first := node[name][0]
			a.attribute(u, name, value, first == '-' || first >= '0' && first <= '9')
		}
	}
	return nil
}

// text returns the value of a JSON string, or a number or anything else as it
// stands; null and nothing are nothing.
func text(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	return string(raw), true
}
