// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// hostile names hold what formats trip over.
var hostile = []string{
	`quote " apostrophe ' backslash \`, `\"; evil [label="x"] \`, "<node id=\"n0\"/>]]>&amp;&bomb;", "line\nbreak\ttab\r",
	"नमस्ते 東京 😀", "</data></node>", "  spaces  ", "{}[],:", "%s%d", strings.Repeat("long", 10_000), "\\N\\G", "plain",
}

func hostileGraph(t *testing.T) (*graph.Graph, graph.Attributes) {
	n := len(hostile)
	edges := []graph.Edge{{0, 1, .1}, {1, 2, 1e-300}, {2, 2, 3}, {3, 9, 1e300}, {4, 5, 0}}
	ranks := make([]float64, n)
	for i := range ranks {
		ranks[i] = float64(i) / 3
	}
	ranks[2] = math.NaN()
	return mustNew(t, n, edges, graph.Float64), graph.Attributes{
		IDs: hostile, Labels: hostile,
		Columns: []graph.Column{{Name: `a "name" <&>`, Text: hostile}, {Name: "rank", Numbers: ranks}},
	}
}

func edgesOf(g *graph.Graph) []graph.Edge {
	var list []graph.Edge
	for e := range g.Edges() {
		list = append(list, e)
	}
	return list
}

// document is what a written file says, read by the standard library.
type document struct {
	IDs    []string
	Labels []string
	Values []map[string]string // of each node, by the name of the column
	Edges  []graph.Edge
}

func (d *document) edge(from, to string, weight float64) {
	d.Edges = append(d.Edges, graph.Edge{From: int32(slices.Index(d.IDs, from)), To: int32(slices.Index(d.IDs, to)), Weight: weight})
}

func parseGraphML(t *testing.T, file []byte) (d document) {
	t.Helper()
	type data struct {
		Key  string `xml:"key,attr"`
		Text string `xml:",chardata"`
	}
	var doc struct {
		Keys []struct {
			ID   string `xml:"id,attr"`
			Name string `xml:"attr.name,attr"`
		} `xml:"key"`
		Nodes []struct {
			ID   string `xml:"id,attr"`
			Data []data `xml:"data"`
		} `xml:"graph>node"`
		Edges []struct {
			Source string  `xml:"source,attr"`
			Target string  `xml:"target,attr"`
			Weight float64 `xml:"data"`
		} `xml:"graph>edge"`
	}
	if err := xml.Unmarshal(file, &doc); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]string)
	for _, k := range doc.Keys {
		names[k.ID] = k.Name
	}
	for _, n := range doc.Nodes {
		label, values := "", make(map[string]string)
		for _, x := range n.Data {
			if x.Key == "label" {
				label = x.Text
			} else {
				values[names[x.Key]] = x.Text
			}
		}
		d.IDs, d.Labels, d.Values = append(d.IDs, n.ID), append(d.Labels, label), append(d.Values, values)
	}
	for _, e := range doc.Edges {
		d.edge(e.Source, e.Target, e.Weight)
	}
	return d
}

// Whatever the names are, the file says what was written.
func TestHostileNames(t *testing.T) {
	g, nodes := hostileGraph(t)
	want := document{IDs: hostile, Labels: hostile, Edges: edgesOf(g)}
	for u, s := range hostile {
		values := map[string]string{nodes.Columns[0].Name: s}
		if x := nodes.Columns[1].Numbers[u]; !math.IsNaN(x) {
			values["rank"] = fmt.Sprint(x)
		}
		want.Values = append(want.Values, values)
	}
	var b bytes.Buffer
	if err := graph.WriteGraphML(&b, g, nodes); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, parseGraphML(t, b.Bytes())); diff != "" {
		t.Errorf("GraphML (-want +got):\n%.2000s", diff)
	}
}

// What a format cannot hold is replaced, and the file stays well-formed.
func TestBrokenNames(t *testing.T) {
	g := mustNew(t, 3, []graph.Edge{{0, 1, 1}}, graph.Unweighted)
	nodes := graph.Attributes{IDs: []string{"a\x00b", "\xff\xfe", "c\x1b[0m"}, Labels: []string{"\x01", "a\xc3", "ok"}}
	var b bytes.Buffer
	if err := graph.WriteGraphML(&b, g, nodes); err != nil {
		t.Fatal(err)
	}
	d := parseGraphML(t, b.Bytes())
	if diff := cmp.Diff([]string{"a\ufffdb", "\ufffd\ufffd", "c\ufffd[0m"}, d.IDs); diff != "" {
		t.Errorf("IDs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"\ufffd", "a\ufffd", "ok"}, d.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	clash := graph.Attributes{IDs: []string{"\x01", "\x02", "x"}}
	if err := graph.WriteGraphML(io.Discard, g, clash); err == nil {
		t.Error("two IDs become one without an error")
	}
}

func TestWritersRefuse(t *testing.T) {
	g := mustNew(t, 2, []graph.Edge{{0, 1, 1}}, graph.Float64)
	full := errors.New("disk full")
	for what, nodes := range map[string]graph.Attributes{
		"IDs": {IDs: []string{"a"}}, "labels": {Labels: []string{"a", "b", "c"}}, "same ID": {IDs: []string{"a", "a"}},
		"column": {Columns: []graph.Column{{Name: "x", Text: []string{"a"}}}}, "no name": {Columns: []graph.Column{{Text: []string{"a", "b"}}}},
		"taken": {Columns: []graph.Column{{Name: "label", Text: []string{"a", "b"}}}}, "no values": {Columns: []graph.Column{{Name: "x"}}},
	} {
		if err := graph.WriteGraphML(io.Discard, g, nodes); err == nil {
			t.Errorf("wrong %s were taken", what)
		}
	}
	if err := graph.WriteGraphML(failing{full}, g, graph.Attributes{}); !errors.Is(err, full) {
		t.Errorf("error of the writer: %v", err)
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }
