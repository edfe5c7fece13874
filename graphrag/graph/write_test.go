// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os/exec"
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

func hostileGraph(t *testing.T) (*graph.Graph, graph.Nodes) {
	n := len(hostile)
	edges := []graph.Edge{{0, 1, .1}, {1, 2, 1e-300}, {2, 2, 3}, {3, 9, 1e300}, {4, 5, 0}}
	ranks := make([]float64, n)
	for i := range ranks {
		ranks[i] = float64(i) / 3
	}
	ranks[2] = math.NaN()
	return mustNew(t, n, edges, graph.Float64), graph.Nodes{
		IDs: hostile, Labels: hostile,
		Columns: []graph.Column{{Name: `a "name" <&>`, Text: hostile}, {Name: "rank", Numbers: ranks}},
	}
}

// What a format cannot hold is replaced, and the file stays well-formed.
func TestBrokenNames(t *testing.T) {
	g := mustNew(t, 3, []graph.Edge{{0, 1, 1}}, graph.Unweighted)
	nodes := graph.Nodes{IDs: []string{"a\x00b", "\xff\xfe", "c\x1b[0m"}, Labels: []string{"\x01", "a\xc3", "ok"}}
	var b bytes.Buffer
	if err := graph.WriteGraphML(&b, g, nodes); err != nil {
		t.Fatal(err)
	}
	f, err := graph.ReadGraphML(&b, graph.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := graph.Nodes{IDs: []string{"a\ufffdb", "\ufffd\ufffd", "c\ufffd[0m"}, Labels: []string{"\ufffd", "a\ufffd", "ok"}}
	if diff := cmp.Diff(want, f.Nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	clash := graph.Nodes{IDs: []string{"\x01", "\x02", "x"}}
	for name, write := range writers {
		if err := write(io.Discard, g, clash); err == nil {
			t.Errorf("%s: two IDs become one and it is not said", name)
		}
	}
}

var writers = map[string]func(io.Writer, *graph.Graph, graph.Nodes) error{
	"GraphML": graph.WriteGraphML, "GEXF": graph.WriteGEXF, "DOT": graph.WriteDOT, "JSON": graph.WriteJSON,
}

func TestWritersRefuse(t *testing.T) {
	g := mustNew(t, 2, []graph.Edge{{0, 1, 1}}, graph.Float64)
	full := errors.New("disk full")
	for name, write := range writers {
		for what, nodes := range map[string]graph.Nodes{
			"IDs": {IDs: []string{"a"}}, "labels": {Labels: []string{"a", "b", "c"}}, "same ID": {IDs: []string{"a", "a"}},
			"column": {Columns: []graph.Column{{Name: "x", Text: []string{"a"}}}}, "no name": {Columns: []graph.Column{{Text: []string{"a", "b"}}}},
			"taken": {Columns: []graph.Column{{Name: "label", Text: []string{"a", "b"}}}}, "no values": {Columns: []graph.Column{{Name: "x"}}},
		} {
			if err := write(io.Discard, g, nodes); err == nil {
				t.Errorf("%s: wrong %s were taken", name, what)
			}
		}
		if err := write(failing{full}, g, graph.Nodes{}); !errors.Is(err, full) {
			t.Errorf("%s: error of the writer: %v", name, err)
		}
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// GEXF is well-formed XML that holds the names.
func TestGEXF(t *testing.T) {
	g, nodes := hostileGraph(t)
	var b bytes.Buffer
	if err := graph.WriteGEXF(&b, g, nodes); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Nodes []struct {
			ID     string `xml:"id,attr"`
			Label  string `xml:"label,attr"`
			Values []struct {
				Value string `xml:"value,attr"`
			} `xml:"attvalues>attvalue"`
		} `xml:"graph>nodes>node"`
		Edges []struct {
			Weight float64 `xml:"weight,attr"`
		} `xml:"graph>edges>edge"`
	}
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Nodes) != g.N() || len(doc.Edges) != len(edgesOf(g)) {
		t.Fatalf("%d nodes, %d edges", len(doc.Nodes), len(doc.Edges))
	}
	for u, node := range doc.Nodes {
		if node.ID != hostile[u] || node.Label != hostile[u] || node.Values[0].Value != hostile[u] {
			t.Errorf("node %d is %q, %q, %q", u, node.ID, node.Label, node.Values[0].Value)
		}
	}
	if doc.Edges[0].Weight != .1 {
		t.Errorf("weight %v, want .1", doc.Edges[0].Weight)
	}
}

func TestDOT(t *testing.T) {
	g := mustNew(t, 3, []graph.Edge{{0, 1, .5}}, graph.Float64)
	nodes := graph.Nodes{IDs: []string{`a"b`, `back\`, `c\n`}, Labels: []string{"x\ny", `"\`, ""}}
	var b bytes.Buffer
	if err := graph.WriteDOT(&b, g, nodes); err != nil {
		t.Fatal(err)
	}
	want := `graph {
  "a\"b" [label="x\ny"];
  "back\\" [label="\"\\"];
  "c\n" [label=""];
  "a\"b" -- "back\\" [weight="0.5"];
}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("DOT (-want +got):\n%s", diff)
	}
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("no dot to ask")
	}
	g, nodes = hostileGraph(t)
	b.Reset()
	if err := graph.WriteDOT(&b, g, nodes); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(dot, "-Tcanon")
	command.Stdin = &b
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("dot: %v: %.500s", err, out)
	}
}
