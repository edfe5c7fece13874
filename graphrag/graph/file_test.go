// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
)

// Written by networkx 3.6.1.
const (
	networkxGraphML = `<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="d3" for="edge" attr.name="weight" attr.type="double" />
  <key id="d2" for="node" attr.name="age" attr.type="double" />
  <key id="d1" for="node" attr.name="age" attr.type="long" />
  <key id="d0" for="node" attr.name="kind" attr.type="string" />
  <graph edgedefault="undirected">
    <node id="Ada &quot;A&quot; &lt;L&gt;">
      <data key="d0">person</data>
      <data key="d1">36</data>
    </node>
    <node id="7">
      <data key="d2">2.5</data>
    </node>
    <node id="x" />
    <edge source="Ada &quot;A&quot; &lt;L&gt;" target="7">
      <data key="d3">2.5</data>
    </edge>
    <edge source="7" target="x">
      <data key="d3">1.0</data>
    </edge>
    <edge source="x" target="x">
      <data key="d3">3.0</data>
    </edge>
  </graph>
</graphml>
`
	networkxDirected = `<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <graph edgedefault="directed">
    <node id="a" />
    <node id="b" />
    <edge source="a" target="b" />
    <edge source="b" target="a" />
  </graph>
</graphml>
`
	networkxJSON = `{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"kind": "person", "age": 36, "id": "Ada \"A\" <L>"}, {"age": 2.5, "id": 7}, {"id": "x"}], "edges": [{"weight": 2.5, "source": "Ada \"A\" <L>", "target": 7}, {"weight": 1.0, "source": 7, "target": "x"}, {"weight": 3.0, "source": "x", "target": "x"}]}`
)

// Written by igraph 0.10.2.
const igraphGraphML = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
         xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns
         http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
<!-- Created by igraph -->
  <key id="v_name" for="node" attr.name="name" attr.type="string"/>
  <key id="v_age" for="node" attr.name="age" attr.type="double"/>
  <key id="e_weight" for="edge" attr.name="weight" attr.type="double"/>
  <graph id="G" edgedefault="undirected">
    <node id="n0">
      <data key="v_name">Ada &quot;A&quot; &lt;L&gt;</data>
      <data key="v_age">1</data>
    </node>
    <node id="n1">
      <data key="v_name">b &amp; c</data>
      <data key="v_age">2</data>
    </node>
    <node id="n2">
      <data key="v_name">é</data>
    </node>
    <edge source="n0" target="n1">
      <data key="e_weight">2.5</data>
    </edge>
    <edge source="n1" target="n2">
      <data key="e_weight">1</data>
    </edge>
    <edge source="n0" target="n1">
      <data key="e_weight">0.25</data>
    </edge>
  </graph>
</graphml>
`

// In the manner of yEd: groups, labels inside of drawings, keys without names.
const yedGraphML = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key attr.name="Description" attr.type="string" for="graph" id="d0"/>
  <key for="port" id="d1" yfiles.type="portgraphics"/>
  <key for="node" id="d6" yfiles.type="nodegraphics"/>
  <key attr.name="weight" attr.type="double" for="edge" id="d9"><default>4</default></key>
  <graph edgedefault="directed" id="G">
    <data key="d0" xml:space="preserve"/>
    <node id="n0" yfiles.foldertype="group">
      <data key="d6"><y:ProxyAutoBoundsNode><y:Realizers><y:GroupNode><y:NodeLabel alignment="right">Group</y:NodeLabel></y:GroupNode></y:Realizers></y:ProxyAutoBoundsNode></data>
      <graph edgedefault="directed" id="n0:">
        <node id="n0::n0"><data key="d6"><y:ShapeNode><y:Fill color="#FFCC00"/><y:NodeLabel>Inner<y:LabelModel/></y:NodeLabel></y:ShapeNode></data></node>
      </graph>
    </node>
    <node id="n1"><data key="d6"><y:ShapeNode><y:NodeLabel>Outer</y:NodeLabel></y:ShapeNode></data></node>
    <edge id="e0" source="n1" target="n0::n0"/>
    <edge id="e1" source="n0" target="n1"><data key="d9">0.5</data></edge>
  </graph>
</graphml>
`

func edgesOf(g *graph.Graph) []graph.Edge {
	var list []graph.Edge
	for e := range g.Edges() {
		list = append(list, e)
	}
	return list
}

func TestReadForeign(t *testing.T) {
	people := graph.Nodes{
		IDs:     []string{`Ada "A" <L>`, "7", "x"},
		Columns: []graph.Column{{Name: "kind", Text: []string{"person", "", ""}}, {Name: "age", Numbers: []float64{36, 2.5, math.NaN()}}},
	}
	ages := graph.Nodes{IDs: people.IDs, Columns: []graph.Column{people.Columns[1], people.Columns[0]}}
	weights := []graph.Edge{{0, 1, 2.5}, {1, 2, 1}, {2, 2, 3}}
	for _, c := range []struct {
		name, text string
		read       func(io.Reader, graph.ReadOptions) (*graph.File, error)
		directed   bool
		nodes      graph.Nodes
		edges      []graph.Edge
	}{
		{"networkx", networkxGraphML, graph.ReadGraphML, false, people, weights},
		{"networkx, JSON", networkxJSON, graph.ReadJSON, false, ages, weights},
		{"networkx, directed", networkxDirected, graph.ReadGraphML, true, graph.Nodes{IDs: []string{"a", "b"}}, []graph.Edge{{0, 1, 2}}},
		{"igraph", igraphGraphML, graph.ReadGraphML, false, graph.Nodes{
			IDs: []string{"n0", "n1", "n2"},
			Columns: []graph.Column{
				{Name: "name", Text: []string{`Ada "A" <L>`, "b & c", "é"}},
				{Name: "age", Numbers: []float64{1, 2, math.NaN()}},
			},
		}, []graph.Edge{{0, 1, 2.75}, {1, 2, 1}}},
		{"yEd", yedGraphML, graph.ReadGraphML, true, graph.Nodes{
			IDs: []string{"n0", "n0::n0", "n1"}, Labels: []string{"Group", "Inner", "Outer"},
		}, []graph.Edge{{0, 2, .5}, {1, 2, 4}}},
		{"defaults", `<graphml><key id="c" for="node" attr.name="colour"><default>red</default></key><graph>
			<edge source="b" target="a"/><node id="a"><data key="c">blue</data></node><node id="b"/></graph></graphml>`,
			graph.ReadGraphML, false, graph.Nodes{IDs: []string{"b", "a"}, Columns: []graph.Column{{Name: "colour", Text: []string{"red", "blue"}}}},
			[]graph.Edge{{0, 1, 1}}},
		{"large numbers", `{"nodes": [{"id": 1, "n": 9007199254740993}, {"id": 2, "n": 1}]}`, graph.ReadJSON, false,
			graph.Nodes{IDs: []string{"1", "2"}, Columns: []graph.Column{{Name: "n", Text: []string{"9007199254740993", "1"}}}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := c.read(strings.NewReader(c.text), graph.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.nodes, f.Nodes, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.edges, edgesOf(f.Graph)); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
			if f.Directed != c.directed {
				t.Errorf("directed: %t", f.Directed)
			}
		})
	}
}

func TestRoundTrip(t *testing.T) {
	g, nodes := hostileGraph(t)
	for name, c := range map[string]struct {
		write func(io.Writer, *graph.Graph, graph.Nodes) error
		read  func(io.Reader, graph.ReadOptions) (*graph.File, error)
	}{"GraphML": {graph.WriteGraphML, graph.ReadGraphML}, "JSON": {graph.WriteJSON, graph.ReadJSON}} {
		var b bytes.Buffer
		if err := c.write(&b, g, nodes); err != nil {
			t.Fatal(err)
		}
		f, err := c.read(&b, graph.ReadOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(nodes, f.Nodes, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: nodes (-want +got):\n%.2000s", name, diff)
		}
		if f.Graph.Fingerprint() != g.Fingerprint() || f.Directed {
			t.Errorf("%s: another graph: %v", name, edgesOf(f.Graph))
		}
		for _, list := range []graphtest.List{graphtest.LFR300(), {}, {N: 1}} {
			for _, p := range []graph.Precision{graph.Float64, graph.Float32, graph.Unweighted} {
				want := list.Graph(p)
				b.Reset()
				if err := c.write(&b, want, graph.Nodes{}); err != nil {
					t.Fatal(err)
				}
				f, err := c.read(&b, graph.ReadOptions{Precision: p})
				if err != nil {
					t.Fatal(err)
				}
				if f.Graph.N() != want.N() || f.Graph.Fingerprint() != want.Fingerprint() {
					t.Errorf("%s: %d nodes at precision %d come back as another graph", name, list.N, p)
				}
			}
		}
	}
}

func TestReadersRefuse(t *testing.T) {
	graphml := func(body string) string { return `<graphml><graph>` + body + `</graph></graphml>` }
	bomb := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>` + graphml(`<node id="&b;"/>`)
	for name, text := range map[string]string{
		"nothing": "", "text": "hello", "another document": "<html/>", "entity bomb": bomb,
		"truncated": networkxGraphML[:len(networkxGraphML)/2], "truncated token": `<graphml><gra`,
		"unknown node": graphml(`<node id="a"/><edge source="a" target="b"/>`), "node twice": graphml(`<node id="a"/><node id="a"/>`),
		"unknown key": graphml(`<node id="a"><data key="d7">x</data></node>`), "hyperedge": graphml(`<hyperedge/>`),
		"two graphs": `<graphml><graph/><graph/></graphml>`, "edge in edge": graphml(`<node id="a"/><edge source="a" target="a"><edge/></edge>`),
		"key twice": `<graphml><key id="a"/><key id="a"/></graphml>`, "encoding": `<?xml version="1.0" encoding="UTF-16"?><graphml/>`,
		"deep": strings.Repeat("<graphml>", 2000), "crossed": `<graphml><graph></graphml></graph>`,
	} {
		if _, err := graph.ReadGraphML(strings.NewReader(text), graph.ReadOptions{}); !errors.Is(err, graph.ErrFormat) {
			t.Errorf("GraphML, %s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "text": "hello", "truncated": networkxJSON[:100], "more": `{"nodes": []} {}`, "no id": `{"nodes": [{}]}`,
		"node twice": `{"nodes": [{"id": 1}, {"id": "1"}]}`, "no target": `{"nodes": [{"id": 1}], "links": [{"source": 1}]}`,
		"unknown node": `{"links": [{"source": 1, "target": 2}]}`, "list": `[]`, "deep": strings.Repeat(`{"nodes":[`, 20000),
	} {
		if _, err := graph.ReadJSON(strings.NewReader(text), graph.ReadOptions{}); !errors.Is(err, graph.ErrFormat) {
			t.Errorf("JSON, %s: %v", name, err)
		}
	}
	for _, weight := range []string{"-1", "NaN", "INF", "many", "1e999"} {
		text := strings.Replace(igraphGraphML, ">2.5<", ">"+weight+"<", 1)
		if _, err := graph.ReadGraphML(strings.NewReader(text), graph.ReadOptions{}); !errors.Is(err, graph.ErrEdge) {
			t.Errorf("GraphML, weight %s: %v", weight, err)
		}
		text = strings.Replace(networkxJSON, "2.5, \"source\"", `"`+weight+`", "source"`, 1)
		if _, err := graph.ReadJSON(strings.NewReader(text), graph.ReadOptions{}); !errors.Is(err, graph.ErrEdge) {
			t.Errorf("JSON, weight %s: %v", weight, err)
		}
	}
}

// A name of a million characters is a name.
func TestLongName(t *testing.T) {
	long := strings.Repeat("é", 1_000_000)
	g := mustNew(t, 1, nil, graph.Unweighted)
	var b bytes.Buffer
	if err := graph.WriteGraphML(&b, g, graph.Nodes{IDs: []string{long}}); err != nil {
		t.Fatal(err)
	}
	f, err := graph.ReadGraphML(&b, graph.ReadOptions{})
	if err != nil || f.Nodes.IDs[0] != long {
		t.Errorf("the name is lost: %v", err)
	}
}

func FuzzReadGraphML(f *testing.F) {
	for _, seed := range []string{networkxGraphML, networkxDirected, igraphGraphML, yedGraphML, "", "<graphml/>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { survives(t, data, graph.ReadGraphML) })
}

func FuzzReadJSON(f *testing.F) {
	for _, seed := range []string{networkxJSON, `{"nodes": [{"id": null}], "links": [{}]}`, "{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { survives(t, data, graph.ReadJSON) })
}

// survives reads, and writes and reads again what could be read: the graph must
// stay the same in both formats.
func survives(t *testing.T, data []byte, read func(io.Reader, graph.ReadOptions) (*graph.File, error)) {
	f, err := read(bytes.NewReader(data), graph.ReadOptions{})
	if err != nil {
		if !errors.Is(err, graph.ErrFormat) && !errors.Is(err, graph.ErrEdge) {
			t.Fatalf("an error of no kind: %v", err)
		}
		return
	}
	for name, c := range map[string]struct {
		write func(io.Writer, *graph.Graph, graph.Nodes) error
		read  func(io.Reader, graph.ReadOptions) (*graph.File, error)
	}{"GraphML": {graph.WriteGraphML, graph.ReadGraphML}, "JSON": {graph.WriteJSON, graph.ReadJSON}} {
		var b bytes.Buffer
		// Names that only other formats can tell apart are refused.
		if c.write(&b, f.Graph, f.Nodes) != nil {
			continue
		}
		again, err := c.read(&b, graph.ReadOptions{})
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, b.Bytes())
		}
		if f.Graph.N() != again.Graph.N() || f.Graph.Fingerprint() != again.Graph.Fingerprint() {
			t.Fatalf("%s: another graph came back", name)
		}
	}
}
