// SPDX-License-Identifier: Apache-2.0

package own_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
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
	"github.com/wildgraph/wildgraph/llm/journal"
)

func folder() fstest.MapFS {
	return fstest.MapFS{
		"owls.md":        {Data: []byte("# Owls\n\nBarn owls hunt by ear.\n")},
		"sea/otters.txt": {Data: []byte("Otters hold hands.")},
		"a/notes.md":     {Data: []byte("One.")},
		"b/notes.md":     {Data: []byte("Two.")},
		"photo.xyz":      {Data: []byte{0, 1, 2}},
	}
}

// Questions of every kind, as the runner gets them.
func TestLoad(t *testing.T) {
	const lines = `{"id": "owls", "question": " How do barn owls hunt? ", "answer": "By ear.", "aliases": ["With their ears"], "gold": ["owls.md"]}
{"question": "What is told of otters?", "statements": ["They hold hands.", " ", "They hold hands."], "gold": [["otters.txt", "owls.md"], "b\\notes.md"]}
{"question": "Who knows both?", "type": "multi-fact", "answer": "Nobody", "golden": ["owls.md"]}

{"question": "Where are the otters?", "gold": ["sea/otters.txt"]}
{"question": "What do we not know?", "unanswerable": true, "where": "folder = \"sea\""}
`
	set := check.Of(own.Load(t.Context(), "dir/mine.jsonl", strings.NewReader(lines), folder(), load.Options{})).OK(t)
	sea := graphrag.Equal("folder", "sea")
	want := []benchmark.Item{
		{Type: "single-fact", Question: graphrag.Question{ID: "owls", Text: "How do barn owls hunt?"}, Reference: "By ear.", Aliases: []string{"With their ears"}, Gold: []benchmark.Unit{{"owls.md"}}},
		{Type: "summary", Question: graphrag.Question{ID: "2", Text: "What is told of otters?"}, Statements: []string{"They hold hands."}, Gold: []benchmark.Unit{{"owls.md", "sea/otters.txt"}, {"b/notes.md"}}},
		{Type: "multi-fact", Question: graphrag.Question{ID: "3", Text: "Who knows both?"}, Reference: "Nobody"},
		{Type: "search", Question: graphrag.Question{ID: "5", Text: "Where are the otters?"}, Gold: []benchmark.Unit{{"sea/otters.txt"}}},
		{Type: "single-fact", Question: graphrag.Question{ID: "6", Text: "What do we not know?", Where: &sea}, Unanswerable: true},
	}
	got := set.Domains[0].Items
	check.Equal(t, got, want, "%+v\nwant\n%+v", got, want)
	var types []string
	for _, k := range set.Types {
		types = append(types, k.Key)
	}
	if got := strings.Join(types, " "); set.Name != "mine" || got != "single-fact multi-fact summary search" {
		t.Errorf("%s: %s", set.Name, got)
	}
	if len(set.Notes) != 2 || !strings.Contains(set.Notes[0], ".xyz") || set.Notes[1] != `dir/mine.jsonl:3: unknown key "golden" ignored` {
		t.Errorf("notes %q do not say what was left out", set.Notes)
	}
	var pages []string
	for d, err := range set.Domains[0].Documents() {
		check.OK(t, err)
		pages = append(pages, d.ID)
	}
	check.Equal(t, strings.Join(pages, " "), "a/notes.md b/notes.md owls.md sea/otters.txt", "pages")
}

// A file of records is a corpus of its rows, whose fields questions with conditions use.
func TestLoadRows(t *testing.T) {
	of := func(team, where string) *benchmark.Dataset {
		t.Helper()
		docs := fstest.MapFS{"t.csv": {Data: []byte("id,text,team\nx,The pager beeps.,ops\ny,The lamp glows.," + team + "\n")}}
		return check.Of(own.Load(t.Context(), "q.jsonl", strings.NewReader(`{"question": "What beeps?", "gold": ["x"]`+where+`}`), docs, load.Options{})).OK(t)
	}
	set := of("ops", "")
	n := 0
	for d, err := range set.Domains[0].Documents() {
		if n++; err != nil || d.Fields["team"] != "ops" || !strings.Contains("x y", d.ID) {
			t.Errorf("%+v, %v", d, err)
		}
	}
	gold := set.Domains[0].Items[0].Gold
	check.True(t, n == 2 && len(gold) == 1 && gold[0][0] == "x", "%d documents, gold %v", n, gold)
	where := `, "where": "team = \"ops\""`
	check.True(t, of("ops", where).Domains[0].Fingerprint != of("it", where).Domains[0].Fingerprint,
		"other fields, and the answers of before are taken for those of now")
	twice := fstest.MapFS{"t.csv": {Data: []byte("id;text\nx;One.\nx;Two.\n")}}
	_, err := own.Load(t.Context(), "q.jsonl", strings.NewReader(`{"question": "What beeps?", "gold": ["x"]}`), twice, load.Options{})
	check.Fails(t, err, `t.csv: two rows have the ID "x"`)
}

// A faulty file is an error with the line, the fault and what is wanted.
func TestLoadErrors(t *testing.T) {
	for _, row := range append(check.Rows(t, "testdata/loaderrors.txt"),
		[]string{strings.Repeat("[", 200_000), "line 2"},
	) {
		line, want := row[0], row[1]
		text := `{"id": "first", "question": "q?", "answer": "a"}` + "\n" + line
		_, err := own.Load(t.Context(), "q.jsonl", strings.NewReader(text), folder(), load.Options{})
		var at *journal.LineError
		check.True(t, errors.As(err, &at) && at.Line == 2 &&
			(strings.Contains(err.Error(), want) || want == "line 2"), "%s: %v, want %q", line, err, want)
	}
	_, err := own.Load(t.Context(), "q.jsonl", strings.NewReader("\n"), folder(), load.Options{})
	check.Fails(t, err, "has no question", "no question")
	_, err = own.Load(t.Context(), "q.jsonl", strings.NewReader(strings.Repeat(`{"question": ""}`+"\n", 30)), folder(), load.Options{})
	check.Fails(t, err, "and 20 more problems", "thirty problems")
	_, err = own.Load(t.Context(), "q.jsonl", strings.NewReader("{}"), fstest.MapFS{}, load.Options{})
	check.Fails(t, err, "documents", "no document")
}

// A line as DataMorgana writes it is a question with its answer. Its categories become the type, its documents
// the evidence, if they are in the corpus; if there are too many types, only the first category is kept.
func TestDataMorgana(t *testing.T) {
	const line = `{"question": "who lit the tower %d", "answer": "Winstanley", "context": ["A page."], "question_categories": [{"categorization_name": "hops", "category_name": "%s"}%s], "user_categories": [{"categorization_name": "expertise", "category_name": " expert\nin it "}], "document_ids": ["a.md", "<urn:uuid:1>", "a.md"]}`
	more := ""
	for _, x := range []struct {
		lines int
		types string
		notes int
	}{
		{4, "single-fact: multi-hop / expert in it|single-fact: single-hop / expert in it", 1},
		{40, "single-fact: multi-hop|single-fact: single-hop", 2},
	} {
		var b strings.Builder
		for i := range x.lines {
			if x.lines > 4 {
				more = fmt.Sprintf(`, {"category_name": "c%d"}`, i)
			}
			fmt.Fprintf(&b, line+"\n", i, []string{"single-hop", "multi-hop"}[i%2], more)
		}
		set, err := own.Load(t.Context(), "morgana.jsonl", strings.NewReader(b.String()), fstest.MapFS{"a.md": {Data: []byte("Henry Winstanley lit it.")}}, load.Options{})
		check.OK(t, err)
		var types []string
		for _, k := range set.Types {
			types = append(types, k.Key)
			check.True(t, strings.HasSuffix(k.Key, ": "+k.Title) && !k.Statements && k.K == 5, "%+v", k)
		}
		it := set.Domains[0].Items[1]
		if got := strings.Join(types, "|"); got != x.types || it.Type != set.Types[0].Key || len(set.Notes) != x.notes || !reflect.DeepEqual(it.Gold, []benchmark.Unit{{"a.md"}}) {
			t.Errorf("%s; %+v; %q", got, it, set.Notes)
		}
	}
}

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

// The figures of a run are those of the definition: gain divided by log2(rank+1), each document counted once.
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

// Any file of judgments is read or refused.
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

// Questions over a folder of documents, as the runner takes them. For a folder on disk use os.DirFS(dir).
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
