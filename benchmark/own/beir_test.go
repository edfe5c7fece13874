// SPDX-License-Identifier: Apache-2.0

package own_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
)

func beir() fstest.MapFS {
	return fstest.MapFS{
		"corpus.jsonl": {Data: []byte(`{"_id": "d1", "title": "Owls", "text": "Owls hunt.", "metadata": {"year": 2020, "of": {"no": 1}, "date": "2024-05-01"}}
{"_id": "d2", "title": "", "text": "Otters swim."}
{"_id": "d3", "text": "Cats sleep."}`)},
		"queries.jsonl": {Data: []byte(`{"_id": "q1", "text": "who hunts"}
{"_id": "q2", "text": "who swims"}
{"_id": "q3", "text": "nothing is relevant"}
{"_id": "q4", "text": "of another split"}`)},
		"qrels/test.tsv":  {Data: []byte("query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq1\td3\t2\r\nq1\td2\t0\r\nq2\td9\t1\r\nq3\td1\t0\r\n")},
		"qrels/train.tsv": {Data: []byte("query-id\tcorpus-id\tscore\nq4\td1\t1\n")},
	}
}

// ranker finds the documents in the order of their IDs, and answers nothing.
type ranker struct{ t *testing.T }

func (ranker) Index(context.Context, iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	return graphrag.IndexStats{}, nil
}
func (ranker) Close() error { return nil }
func (r ranker) Answer(context.Context, graphrag.Question) (graphrag.Answer, error) {
	r.t.Error("a question that is searched for was answered")
	return graphrag.Answer{}, nil
}
func (ranker) Retrieve(context.Context, graphrag.Question) (graphrag.Found, error) {
	var f graphrag.Found
	for _, id := range []string{"d1", "d1", "d2", "d3"} {
		f.Ranked = append(f.Ranked, graphrag.Hit{Chunk: graphrag.Chunk{Doc: id}})
	}
	return f, nil
}

// The measures of a run are those of the definition: gain over log2(rank+1), the
// documents each once.
func TestBEIR(t *testing.T) {
	fsys := beir()
	check.True(t, own.Layout.Recognise(fsys, benchmark.LoadOptions{}) && !own.Layout.Recognise(folder(), benchmark.LoadOptions{}), "the layout is not recognised")
	set := check.Of(own.BEIR(fsys, "animals")).OK(t)
	if n := len(set.Domains[0].Items); n != 2 || !slices.ContainsFunc(set.Notes, func(s string) bool { return strings.Contains(s, "having no relevant document: 1") }) ||
		!slices.ContainsFunc(set.Notes, func(s string) bool { return strings.Contains(s, "does not hold: 1") }) {
		t.Errorf("%d questions, %q", n, set.Notes)
	}
	for d, err := range set.Domains[0].Documents() {
		if err != nil || (d.ID == "d1") != (d.Fields["year"] == 2020. && d.Fields["date"] == time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC) && d.Fields["of.no"] == 1. && len(d.Fields) == 3) {
			t.Errorf("fields of %s: %v, %v", d.ID, d.Fields, err)
		}
	}
	lex := check.Of(lexical.New(judge.Options{})).OK(t)
	run, err := (&benchmark.Runner{
		Dataset: set, Judge: lex,
		Systems: []benchmark.Entry{{Name: "ranker", New: func(string) (benchmark.System, error) { return ranker{t}, nil }}},
	}).Run(t.Context())
	check.OK(t, err)
	results := run.Systems[0].Domains[0].Results
	want := (1/math.Log2(2) + 2/math.Log2(4)) / (2/math.Log2(2) + 1/math.Log2(3))
	first := results[0].Evidence
	if math.Abs(*first.NDCGAt10-want) > 1e-12 || *first.MRR != 1 || *first.RecallAt2 != .5 || *first.RecallAt10 != 1 {
		t.Errorf("nDCG %v, want %v; MRR %v, recall %v and %v", *first.NDCGAt10, want, *first.MRR, *first.RecallAt2, *first.RecallAt10)
	}
	second := results[1].Evidence
	check.True(t, *second.NDCGAt10 == 0 && *second.MRR == 0, "of a document that is not there: nDCG %v, MRR %v", *second.NDCGAt10, *second.MRR)
	j := results[0].Judgment.Fact
	check.True(t, j != nil && j.State == judge.NotApplicable, "judged: %+v", j)
}

func TestBEIRErrors(t *testing.T) {
	for _, row := range append(check.Rows(t, "testdata/beirerrors.txt"),
		[]string{"qrels/test.tsv", strings.Repeat("x", 1<<17), "qrels/test.tsv"},
	) {
		file, text, want := row[0], row[1], row[2]
		fsys := beir()
		fsys[file] = &fstest.MapFile{Data: []byte(text)}
		check.Fails(t, check.Err(own.BEIR(fsys, "animals")), want, "%s", file)
	}
	fsys := beir()
	delete(fsys, "qrels/test.tsv")
	set, err := own.BEIR(fsys, "x")
	check.True(t, err == nil && len(set.Domains[0].Items) == 1 && set.Domains[0].Items[0].Question.ID == "q4", "of the training split: %v", err)
}

// Whatever stands in the judgments, it is read or refused.
func FuzzBEIR(f *testing.F) {
	f.Add([]byte("q1\td1\t1\n"))
	f.Add([]byte("query-id\tcorpus-id\tscore\nq1\td1\t-1\n\n"))
	f.Fuzz(func(t *testing.T, qrels []byte) {
		fsys := beir()
		fsys["qrels/test.tsv"] = &fstest.MapFile{Data: qrels}
		set, err := own.BEIR(fsys, "x")
		check.True(t, err != nil || len(set.Domains[0].Items) != 0 && len(set.Domains[0].Items[0].Gold) != 0,
			"a data set without gold")
	})
}

// Questions over a folder of documents, as the runner takes them. A folder on disk is
// os.DirFS(dir).
func Example() {
	docs := fstest.MapFS{"owls.md": {Data: []byte("# Owls\n\nBarn owls hunt by ear.\n")}}
	questions := `{"question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}`
	set, err := own.Load(context.Background(), "owls.jsonl", strings.NewReader(questions), docs, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	it := set.Domains[0].Items[0]
	fmt.Println(set.Name, it.Question.ID, it.Type, it.Reference, it.Gold)
	// Output: owls 1 single-fact By ear. [[owls.md]]
}
