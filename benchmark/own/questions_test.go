// SPDX-License-Identifier: Apache-2.0

package own_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/check"
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

// Every kind of question, as the runner gets it.
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

// One file of records is a corpus of its rows; fields count for questions with conditions.
func TestLoadRows(t *testing.T) {
	load := func(team, where string) *benchmark.Dataset {
		t.Helper()
		docs := fstest.MapFS{"t.csv": {Data: []byte("id,text,team\nx,The pager beeps.,ops\ny,The lamp glows.," + team + "\n")}}
		set := check.Of(own.Load(t.Context(), "q.jsonl", strings.NewReader(`{"question": "What beeps?", "gold": ["x"]`+where+`}`), docs, load.Options{})).OK(t)
		return set
	}
	set := load("ops", "")
	n := 0
	for d, err := range set.Domains[0].Documents() {
		if n++; err != nil || d.Fields["team"] != "ops" || !strings.Contains("x y", d.ID) {
			t.Errorf("%+v, %v", d, err)
		}
	}
	gold := set.Domains[0].Items[0].Gold
	check.True(t, n == 2 && len(gold) == 1 && gold[0][0] == "x", "%d documents, gold %v", n, gold)
	where := `, "where": "team = \"ops\""`
	check.True(t, load("ops", where).Domains[0].Fingerprint != load("it", where).Domains[0].Fingerprint,
		"other fields, and the answers of before are taken for those of now")
}

// What cannot be meant is an error with the line, and says what is wanted.
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
	check.Fails(t, err, "holds no question", "no question")
	_, err = own.Load(t.Context(), "q.jsonl", strings.NewReader(strings.Repeat(`{"question": ""}`+"\n", 30)), folder(), load.Options{})
	check.Fails(t, err, "and 20 more problems", "thirty problems")
	_, err = own.Load(t.Context(), "q.jsonl", strings.NewReader("{}"), fstest.MapFS{}, load.Options{})
	check.Fails(t, err, "documents", "no document")
}

// A line as DataMorgana writes it is a question with its answer. Its categories are its type,
// its documents the evidence, where they are here; of too many types the first category stays.
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
