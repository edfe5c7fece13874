// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// ReadGraphRAG reads the output folder of Microsoft's GraphRAG, versions 0.3 to 3: documents, text_units,
// entities and relationships. Its relations have a description but no label.
func ReadGraphRAG(fsys fs.FS) (*Index, error) {
	b := newBuilder("the output of GraphRAG")
	titles := make(map[string]string)
	read := func(name string, columns []string, take func(row) error) error {
		if err := table(fsys, name, columns, take); err != nil {
			return fmt.Errorf("foreign: %w", err)
		}
		return nil
	}
	err := read("documents", []string{"id", "title"}, func(r row) error {
		titles[r.text("id")] = r.text("title")
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = read("text_units", []string{"id", "text", "document_ids", "document_id"}, func(r row) error {
			d := graphrag.Document{ID: r.text("id"), Text: r.text("text"), Source: r.text("document_id", "document_ids")}
			d.Title = titles[d.Source]
			return b.unit(d)
		})
	}
	if err == nil {
		err = read("entities", []string{"title", "name", "type", "description", "text_unit_ids"}, func(r row) error {
			return b.entity(kg.Mention{Name: r.text("title", "name"), Type: r.text("type")}, []string{r.text("description")}, r.texts("text_unit_ids"))
		})
	}
	if err == nil {
		err = read("relationships", []string{"source", "target", "description", "weight", "text_unit_ids"}, func(r row) error {
			return b.relation(kg.Fact{
				Triple: graphrag.Triple{Head: r.text("source"), Tail: r.text("target")}, Weight: r.number("weight"),
			}, []string{r.text("description")}, r.texts("text_unit_ids"))
		})
	}
	if err != nil {
		return nil, err
	}
	return b.index()
}

// Files of LightRAG's default stores.
const (
	lightGraph  = "graph_chunk_entity_relation.graphml"
	lightChunks = "kv_store_text_chunks.json"
)

// separator separates the parts of a value in LightRAG (lightrag/constants.py, GRAPH_FIELD_SEP).
const separator = "<SEP>"

// ReadLightRAG reads the working folder of LightRAG with its default stores: the graph and the chunks, with the
// attributes of nodes and edges that version 1 writes. If the parts of a description were not summarized, they
// become the descriptions in the chunks, in their order.
func ReadLightRAG(fsys fs.FS) (*Index, error) {
	b := newBuilder("the folder of LightRAG")
	if err := b.chunks(fsys); err != nil {
		return nil, fmt.Errorf("foreign: %s: %w", lightChunks, err)
	}
	f, _, err := open(fsys, lightGraph)
	if err != nil {
		return nil, fmt.Errorf("foreign: %w", err)
	}
	defer f.Close() // closing a file that was only read loses nothing
	n := 0
	for v, err := range graphML(io.LimitReader(f, MaxFile)) {
		if n++; err == nil && n > MaxRows {
			err = fmt.Errorf("%w: more than %d nodes and edges", ErrFormat, MaxRows)
		}
		if err != nil {
			return nil, fmt.Errorf("foreign: %s: %w", lightGraph, err)
		}
		units := strings.Split(v.data["source_id"], separator)
		description := strings.Split(v.data["description"], separator)
		if v.source == "" {
			if err := b.entity(kg.Mention{Name: v.id, Type: v.data["entity_type"]}, description, units); err != nil {
				return nil, fmt.Errorf("foreign: %w", err)
			}
			continue
		}
		weight, err := strconv.ParseFloat(v.data["weight"], 64)
		if err != nil {
			weight = 0
		}
		known := map[string]bool{}
		fact := kg.Fact{Triple: graphrag.Triple{Head: v.source, Tail: v.target}, Weight: weight}
		for k := range strings.FieldsFuncSeq(strings.ReplaceAll(v.data["keywords"], separator, ","), func(r rune) bool { return r == ',' || r == '，' }) {
			if k = strings.TrimSpace(k); k != "" && !known[k] {
				known[k] = true
				fact.Keywords = append(fact.Keywords, k)
			}
		}
		if err := b.relation(fact, description, units); err != nil {
			return nil, fmt.Errorf("foreign: %w", err)
		}
	}
	return b.index()
}

// chunks reads the file of the chunks.
func (b *builder) chunks(fsys fs.FS) error {
	f, _, err := open(fsys, lightChunks)
	if err != nil {
		return err
	}
	defer f.Close() // closing a file that was only read loses nothing
	var byID map[string]struct {
		Content string `json:"content"`
		Doc     string `json:"full_doc_id"`
		File    string `json:"file_path"`
	}
	d := json.NewDecoder(io.LimitReader(f, MaxFile))
	if err := d.Decode(&byID); err != nil {
		return fmt.Errorf("%w: invalid JSON: %w", ErrFormat, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: text follows the JSON value at byte %d", ErrFormat, d.InputOffset())
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		c := byID[id]
		title := c.File
		if title == "unknown_source" {
			title = ""
		}
		if err := b.unit(graphrag.Document{ID: id, Title: title, Source: c.Doc, Text: c.Content}); err != nil {
			return err
		}
	}
	return nil
}

// element is a node or an edge of a graph; only an edge has a source and a target.
type element struct {
	id, source, target string
	data               map[string]string
}

// graphML yields the nodes and edges of a GraphML file, and ends at an error.
func graphML(r io.Reader) iter.Seq2[element, error] {
	type node struct {
		ID     string `xml:"id,attr"`
		Source string `xml:"source,attr"`
		Target string `xml:"target,attr"`
		Data   []struct {
			Key  string `xml:"key,attr"`
			Text string `xml:",chardata"`
		} `xml:"data"`
	}
	return func(yield func(element, error) bool) {
		in := xml.NewDecoder(r)
		names := make(map[string]string) // key → name of the attribute
		begun := false
		for {
			token, err := in.Token()
			if errors.Is(err, io.EOF) && begun {
				return
			}
			if err != nil {
				yield(element{}, fmt.Errorf("%w: invalid XML: %w", ErrFormat, err))
				return
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			switch start.Name.Local {
			case "graphml":
				begun = true
			case "key":
				names[attribute(start, "id")] = attribute(start, "attr.name")
			case "node", "edge":
				var n node
				if err := in.DecodeElement(&n, &start); err != nil {
					yield(element{}, fmt.Errorf("%w: invalid node or edge: %w", ErrFormat, err))
					return
				}
				e := element{id: n.ID, data: make(map[string]string, len(n.Data))}
				if start.Name.Local == "edge" {
					if e.source, e.target = n.Source, n.Target; e.source == "" {
						yield(element{}, fmt.Errorf("%w: an edge without a source", ErrFormat))
						return
					}
				}
				for _, d := range n.Data {
					e.data[names[d.Key]] = d.Text
				}
				if !yield(e, nil) {
					return
				}
			}
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
