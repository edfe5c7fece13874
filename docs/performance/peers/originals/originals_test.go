package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/docs/performance/peers/originals/fake"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
)

// outcome is the graph of a program, and what it finds for each question, by mode.
type outcome struct {
	nodes map[string]bool
	edges map[[2]string]float64
	asked map[string][]found
}

// found are names, pairs of names and passages, best first.
type found struct {
	entities  []string
	relations [][2]string
	passages  []int
}

// fold is the rule by which names are compared: HippoRAG knows their ASCII letters alone.
func fold(name string) string { return kg.FoldASCII.Key(name) }

func pair(a, b string) [2]string { return [2]string{min(fold(a), fold(b)), max(fold(a), fold(b))} }

// golden reads what common.py keeps.
func golden(t *testing.T, name string) outcome {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".json.gz")
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	var kept struct {
		Nodes []string
		Count int // of the nodes that are in the graph
		Edges [][3]float64
		Asked map[string][][3]json.RawMessage // entities, relations, passages
	}
	must(t, json.NewDecoder(z).Decode(&kept))
	out := outcome{map[string]bool{}, map[[2]string]float64{}, map[string][]found{}}
	for _, n := range kept.Nodes[:kept.Count] {
		out.nodes[fold(n)] = true
	}
	for _, e := range kept.Edges {
		out.edges[pair(kept.Nodes[int(e[0])], kept.Nodes[int(e[1])])] += e[2]
	}
	for mode, of := range kept.Asked {
		for _, q := range of {
			var to found
			var entities []int
			var relations [][2]int
			must(t, json.Unmarshal(q[0], &entities))
			must(t, json.Unmarshal(q[1], &relations))
			must(t, json.Unmarshal(q[2], &to.passages))
			for _, e := range entities {
				to.entities = append(to.entities, fold(kept.Nodes[e]))
			}
			for _, r := range relations {
				to.relations = append(to.relations, pair(kept.Nodes[r[0]], kept.Nodes[r[1]]))
			}
			out.asked[mode] = append(out.asked[mode], to)
		}
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// model answers in this process what the server answers.
type model struct{ *fake.Model }

func (model) Name() string { return "fake" }

func (m model) Generate(_ context.Context, req llm.Request) (llm.Reply, error) {
	var messages []fake.Message
	for _, msg := range req.Messages {
		messages = append(messages, fake.Message{Role: string(msg.Role), Text: msg.Text})
	}
	return llm.Reply{Text: m.Reply(messages), Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1}}, nil
}

var heading = regexp.MustCompile(`( \([^()]*\))?:?\s*$`)

// ours indexes the sample by a system, and asks its questions.
func ours(t *testing.T, hard bool, name string) outcome {
	t.Helper()
	d, err := fake.Sample("../../../../examples/wildgraphbench/bench/sample")
	must(t, err)
	vectors := embed.Func(func(_ context.Context, texts []string) ([][]float32, error) {
		var out [][]float32
		for _, text := range texts {
			out = append(out, fake.Vector(text))
		}
		return out, nil
	})
	parts, err := kit.ByModel(kit.ModelOptions{Model: model{fake.NewModel(d, hard)}, Embedder: vectors})
	must(t, err)
	s, err := system(parts, name)
	must(t, err)
	_, err = s.Index(t.Context(), graphrag.Documents(documents(d)...))
	must(t, err)
	g := s.Graph()
	out := outcome{map[string]bool{}, map[[2]string]float64{}, map[string][]found{}}
	for _, e := range g.Entities {
		out.nodes[fold(e.Name)] = true
	}
	for _, r := range g.Relations {
		if r.Head != r.Tail {
			out.edges[pair(g.Entities[r.Head].Name, g.Entities[r.Tail].Name)] += r.Weight
		}
	}
	for _, q := range d.Questions {
		f, err := s.Retrieve(t.Context(), graphrag.Question{Text: q, K: 20, Depth: 100})
		must(t, err)
		out.asked[""] = append(out.asked[""], told(f))
	}
	return out
}

// told reads what was found for a question.
func told(f graphrag.Found) (out found) {
	for _, d := range f.Derived {
		name := heading.ReplaceAllString(d.Text[:d.Heading], "")
		switch a, b, _ := strings.Cut(name, " – "); d.Kind {
		case "entity":
			out.entities = append(out.entities, fold(name))
		case "relation", "relationship":
			out.relations = append(out.relations, pair(a, b))
		}
	}
	hits := f.Evidence
	if hits == nil {
		hits = f.Ranked
	}
	for _, h := range hits {
		var n int
		fmt.Sscanf(h.Chunk.Doc, "d%d", &n)
		out.passages = append(out.passages, n)
	}
	return out
}

// missing returns the keys of a that b lacks, in order.
func missing[K comparable, V any](a, b map[K]V) (out []string) {
	for k := range a {
		if _, ok := b[k]; !ok {
			out = append(out, fmt.Sprint(k))
		}
	}
	slices.Sort(out)
	return out
}

func same[T comparable](a, b []T) bool {
	of := make(map[T]int)
	for _, x := range a {
		of[x]++
	}
	for _, x := range b {
		of[x]--
	}
	for _, n := range of {
		if n != 0 {
			return false
		}
	}
	return true
}

func head[T any](list []T, n int) []T { return list[:min(n, len(list))] }

func TestLightRAG(t *testing.T) {
	theirs := golden(t, "lightrag")
	for _, mode := range []string{"local", "global", "hybrid", "mix"} {
		o := ours(t, false, "lightrag:"+mode)
		t.Log(len(theirs.nodes), len(o.nodes), missing(theirs.nodes, o.nodes), missing(o.nodes, theirs.nodes))
		t.Log(len(theirs.edges), len(o.edges), missing(theirs.edges, o.edges), missing(o.edges, theirs.edges))
		for k, w := range theirs.edges {
			if x, ok := o.edges[k]; ok && x != w {
				t.Log(k, w, x)
			}
		}
		both, passages, equal := 0, 0, 0
		for i, a := range theirs.asked[mode] {
			b := o.asked[""][i]
			if slices.Equal(a.entities, b.entities) && slices.Equal(a.relations, b.relations) {
				equal++
			}
			if same(a.entities, b.entities) && same(a.relations, b.relations) {
				both++
				if same(a.passages, b.passages) {
					passages++
				} else if mode == "local" {
					t.Log(a.passages, b.passages)
				}
			}
		}
		t.Log(mode, "same entities and relations", both, "in the same order", equal, "same passages", passages, len(theirs.asked[mode]))
	}
}

func TestHippoRAG(t *testing.T) {
	for _, hard := range []bool{false, true} {
		name := "hipporag"
		if hard {
			name += "-hard"
		}
		theirs, o := golden(t, name), ours(t, hard, "hipporag2:program")
		t.Log(len(theirs.nodes), len(o.nodes), missing(theirs.nodes, o.nodes), missing(o.nodes, theirs.nodes))
		t.Log(len(theirs.edges), len(o.edges), missing(theirs.edges, o.edges), missing(o.edges, theirs.edges))
		top, all := 0, 0
		for i, a := range theirs.asked[""] {
			b := o.asked[""][i]
			if slices.Equal(head(a.passages, 5), head(b.passages, 5)) {
				top++
			} else {
				t.Log(i, head(a.passages, 8), head(b.passages, 8))
			}
			if slices.Equal(head(a.passages, 50), head(b.passages, 50)) {
				all++
			}
		}
		t.Log("top 5 identical", top, "top 50", all, len(theirs.asked[""]))
	}
}
