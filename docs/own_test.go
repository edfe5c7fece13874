// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/foreign"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
)

// mine is a RAG of one's own: it reads the page that shares most words with the question.
type mine struct{ pages []graphrag.Document }

func (m *mine) Index(_ context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	for d, err := range docs {
		if err != nil {
			return graphrag.IndexStats{}, err
		}
		m.pages = append(m.pages, d)
	}
	return graphrag.IndexStats{Documents: len(m.pages)}, nil
}

func (m *mine) Answer(_ context.Context, q graphrag.Question) (graphrag.Answer, error) {
	best, most := 0, -1
	for i, page := range m.pages {
		shared := 0
		for _, w := range strings.Fields(strings.ToLower(q.Text)) {
			shared += strings.Count(strings.ToLower(page.Text), w)
		}
		if shared > most {
			best, most = i, shared
		}
	}
	page := m.pages[best]
	hits := []graphrag.Hit{{Chunk: graphrag.Chunk{ID: page.ID, Doc: page.ID, Text: page.Text}, Score: 1}}
	return graphrag.Answer{Text: page.Text, Found: graphrag.Found{Ranked: hits, Evidence: hits}}, nil
}

func (m *mine) Close() error { return nil }

// A system of one's own on data of one's own.
func Example_own() {
	ctx := context.Background()
	docs := fstest.MapFS{ // os.DirFS(dir) on disk
		"owls.md":   {Data: []byte("Barn owls hunt by ear.")},
		"otters.md": {Data: []byte("Sea otters sleep in kelp.")},
	}
	set, err := own.Load(ctx, "mine.jsonl", strings.NewReader(
		`{"question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}
		 {"question": "Where do sea otters sleep?", "answer": "In kelp.", "gold": ["otters.md"]}`), docs, load.Options{})
	if err != nil {
		panic(err)
	}
	judged, _ := lexical.New(judge.Options{})
	runner := benchmark.Runner{Dataset: set, Judge: judged, Systems: []benchmark.Entry{
		{Name: "mine", New: func(string) (benchmark.System, error) { return &mine{}, nil }},
	}}
	run, err := runner.Run(ctx) // with Options.Dir it resumes
	if err != nil {
		panic(err)
	}
	r, err := report.New(run) // report.Write(dir, run) writes the folder
	if err != nil {
		panic(err)
	}
	all := r.Systems[0].Overall.Types[benchmark.All]
	for _, key := range []string{"accuracy", "evidence_recall_at_5"} {
		v, _ := all.Figure(key)
		fmt.Println(key, v)
	}
	// Output:
	// accuracy 1
	// evidence_recall_at_5 1
}

// The guide to judges shows the test that compiles here.
func TestGuides(t *testing.T) {
	code, source := fenced(t, "judge.md", "go"), check.Of(os.ReadFile("judge_test.go")).OK(t)
	check.True(t, len(code) >= 400 && strings.Contains(string(source), strings.TrimSpace(code)), "the Go code of judge.md is not that of judge_test.go")
}

// The test in Python runs as it stands in own-data.md: it passes on right answers, and says which
// are wrong.
func TestPython(t *testing.T) {
	check.Long(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	tool := filepath.Join(t.TempDir(), "wildgraphbench")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", tool, "../examples/wildgraphbench").CombinedOutput()
	check.OK(t, err, "%v\n%s", err, out)
	t.Setenv("PATH", filepath.Dir(tool)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, tt := range []struct{ owls, want string }{
		{"They hunt by ear.", "OK"},
		{"By smell.", "accuracy of mine is 0.5000, below 0.9\n  1: How do barn owls hunt?: 0, "},
	} {
		dir := folder(t, map[string]string{
			"test_answers.py": fenced(t, "own-data.md", "python"),
			"mine.jsonl":      `{"question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}` + "\n" + `{"question": "Où dorment les loutres ?", "answer": "In kelp."}` + "\n",
			"rag.py":          fmt.Sprintf("def answer(question):\n    return %q if 'owls' in question else 'In kelp.'\n", tt.owls),
		})
		run := exec.Command(python, "-B", "-m", "unittest", "test_answers")
		run.Dir = dir
		out, err := run.CombinedOutput()
		check.True(t, (err == nil) == (tt.want == "OK") && strings.Contains(string(out), tt.want), "%s: %v\n%s", tt.owls, err, out)
		cases, err := os.ReadFile(filepath.Join(dir, "junit.xml"))
		check.True(t, err == nil && strings.Count(string(cases), "<testcase ") == 2, "%v: %s", err, cases)
	}
}

// A finished index of LightRAG is asked by another recipe's search, without a model.
func Example_foreign() {
	ctx := context.Background()
	folder := fstest.MapFS{ // os.DirFS("rag_storage") on disk
		"kv_store_text_chunks.json": {Data: []byte(`{
			"chunk-1": {"content": "Colin Archer built the Fram for Fridtjof Nansen.", "file_path": "fram.txt"},
			"chunk-2": {"content": "Larvik is a town in the south of Norway.", "file_path": "larvik.txt"}}`)},
		"graph_chunk_entity_relation.graphml": {Data: []byte(`<graphml>
			<key id="d0" for="node" attr.name="description"/><key id="d1" for="node" attr.name="source_id"/>
			<key id="d2" for="edge" attr.name="description"/><key id="d3" for="edge" attr.name="source_id"/>
			<graph>
			<node id="Colin Archer"><data key="d0">A builder of ships from Larvik.</data><data key="d1">chunk-1</data></node>
			<node id="Larvik"><data key="d0">A town in Norway.</data><data key="d1">chunk-2</data></node>
			<edge source="Colin Archer" target="Larvik"><data key="d2">Colin Archer was born in Larvik.</data><data key="d3">chunk-2</data></edge>
			</graph></graphml>`)},
	}
	index, err := foreign.ReadLightRAG(folder)
	if err != nil {
		panic(err)
	}
	parts, _ := kit.Offline(kit.OfflineOptions{})
	system, err := lightrag.New(parts, lightrag.Options{Mode: lightrag.Mix, Extract: index, Cosine: lightrag.NoCosine})
	if err != nil {
		panic(err)
	}
	if _, err := system.Index(ctx, index.Documents()); err != nil {
		panic(err)
	}
	found, err := system.Retrieve(ctx, graphrag.Question{Text: "Where was Colin Archer born?", K: 2})
	if err != nil {
		panic(err)
	}
	for _, d := range found.Derived {
		fmt.Println(d.Text)
	}
	for _, hit := range found.Read(graphrag.Question{K: 2}) {
		fmt.Println(hit.Chunk.Title)
	}
	// Output:
	// Colin Archer: A builder of ships from Larvik.
	// Larvik: A town in Norway.
	// Colin Archer – Larvik: Colin Archer was born in Larvik.
	// fram.txt
	// larvik.txt
}
