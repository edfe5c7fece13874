// SPDX-License-Identifier: Apache-2.0

package anonyrag_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

func folder(files ...string) fstest.MapFS {
	out := make(fstest.MapFS)
	for i := 0; i < len(files); i += 2 {
		out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return out
}

const (
	corpus = `[{"id": "c1", "title": "One", "text": "[PERSON#1] kept the [LOCATION#1]."}, {"context": "[PERSON#2] went home."}, "[PERSON#3] slept."]`
	qa     = `{"question": "Who went home?\nA. [PERSON#1]\nB. [PERSON#2]", "answer": "B. (Jim)", "type": "objective", "hops": 5, "evidence": ["eng-00002", "c9"]}
{"query": "Q: Who kept the [LOCATION#1]? A: [PERSON#1].", "ground_truth": "PERSON#1——Silver\nLOCATION#1——Spy-glass", "aliases": ["PERSON#1——Long John"], "difficulty": "simple", "evidence": "c1"}
{"question": "Who slept?", "answer": "C", "options": ["[PERSON#1]", "[PERSON#2]", "[PERSON#3]", "nobody"]}`
)

// The shapes that are read, and what becomes of them.
func TestLoad(t *testing.T) {
	set, err := anonyrag.Load(folder("anonyrag_eng_text_chunks.json", corpus, "anonyrag_eng_qa.jsonl", qa, "README.md", "x", "eng_schema.json", "{}"))
	check.OK(t, err)
	var keys []string
	for _, k := range set.Types {
		keys = append(keys, k.Key)
	}
	check.Equal(t, keys, []string{"choice-complex", "choice", "reversion-simple"}, "types")
	d := set.Domains[0]
	if d.Name != "eng" || len(set.Domains) != 1 || len(set.Notes) != 1 || !strings.Contains(set.Notes[0], "1 pieces of evidence") || d.Fingerprint == "" {
		t.Errorf("%q, notes %q", d.Name, set.Notes)
	}
	var docs []string
	for doc, err := range d.Documents() {
		check.OK(t, err)
		docs = append(docs, doc.ID+"|"+doc.Title+"|"+doc.Text)
	}
	check.Equal(t, docs, []string{"c1|One|[PERSON#1] kept the [LOCATION#1].", "eng-00002||[PERSON#2] went home.", "eng-00003||[PERSON#3] slept."})
	want := []benchmark.Item{
		{Type: "choice-complex", Reference: "B. (Jim)", Gold: []benchmark.Unit{{"eng-00002"}}},
		{Type: "reversion-simple", Reference: "PERSON#1——Silver\nLOCATION#1——Spy-glass", Aliases: []string{"PERSON#1——Long John"}, Gold: []benchmark.Unit{{"c1"}}},
		{Type: "choice", Reference: "C"},
	}
	want[0].Question.Text, want[0].Question.ID = "Who went home?\nA. [PERSON#1]\nB. [PERSON#2]\nAnswer with the letter of the right option.", "eng/1"
	want[1].Question.Text, want[1].Question.ID = "Q: Who kept the [LOCATION#1]? A: [PERSON#1].", "eng/2"
	want[2].Question.Text, want[2].Question.ID = "Who slept?\nA. [PERSON#1]\nB. [PERSON#2]\nC. [PERSON#3]\nD. nobody\nAnswer with the letter of the right option.", "eng/3"
	check.Equal(t, d.Items, want)
}

func TestLoadReportsProblems(t *testing.T) {
	ok := `{"question": "Who?", "answer": "A"}`
	for want, fsys := range map[string]fs.FS{
		"no data set here":                        folder("data.txt", "x"),
		"buildbench -parquet":                     folder("data/eng_qa-00000-of-00001.parquet", "x"),
		"of chs there is only chs_qa.json":        folder("chs_qa.json", ok),
		"both look like the qa of eng":            folder("eng_qa.json", ok, "en_questions.json", ok, "eng_corpus.json", `["x"]`),
		"eng_corpus.json holds nothing":           folder("eng_corpus.json", "[]", "eng_qa.json", ok),
		`eng_corpus.json:2: no "text"`:            folder("eng_corpus.json", "\"x\"\n{\"id\": 7}", "eng_qa.json", ok),
		`the id "7" stands above`:                 folder("eng_corpus.json", `[{"id": 7, "text": "x"}, {"id": "7", "text": "y"}]`, "eng_qa.json", ok),
		"eng_corpus.json:1: not an object":        folder("eng_corpus.json", "7", "eng_qa.json", ok),
		`eng_qa.json:2: want a "question" and an`: folder("eng_corpus.json", `["x"]`, "eng_qa.json", ok+"\n"+`{"question": "Who?"}`),
		"is neither a letter nor a list":          folder("eng_corpus.json", `["x"]`, "eng_qa.json", `{"question": "Who?", "answer": "Jim"}`),
		`the type "essay" is none of`:             folder("eng_corpus.json", `["x"]`, "eng_qa.json", `{"question": "Who?", "answer": "A", "type": "essay"}`),
		`"hops" is "many"`:                        folder("eng_corpus.json", `["x"]`, "eng_qa.json", `{"question": "Who?", "answer": "A", "hops": "many"}`),
		`"difficulty" is "hard"`:                  folder("eng_corpus.json", `["x"]`, "eng_qa.json", `{"question": "Who?", "answer": "A", "level": "hard"}`),
		"names no placeholder":                    folder("eng_corpus.json", `["x"]`, "eng_qa.json", `{"question": "Who?", "answer": "Jim", "type": "subjective"}`),
		"2 options for the answer C":              folder("eng_corpus.json", `["x"]`, "eng_qa.json", `{"question": "Who?", "answer": "C", "options": ["x", "y"]}`),
		"27 options":                              folder("eng_corpus.json", `["x"]`, "eng_qa.json", `{"question": "Who?", "answer": "A", "options": [`+strings.Repeat(`"x",`, 26)+`"x"]}`),
		`"options" is no list`:                    folder("eng_corpus.json", `["x"]`, "eng_qa.json", `{"question": "Who?", "answer": "C", "options": {"A": "x"}}`),
		"eng_qa.json is not a regular file":       fstest.MapFS{"eng_corpus.json": &fstest.MapFile{Data: []byte(`["x"]`)}, "eng_qa.json": &fstest.MapFile{Mode: fs.ModeNamedPipe}},
		"and 5 more problems":                     folder("eng_corpus.json", `["x"]`, "eng_qa.json", strings.Repeat("{}\n", 10)),
		"eng_qa.json:1: ":                         folder("eng_corpus.json", `["x"]`, "eng_qa.json", "{\"question\": \"\xff\"}"),
	} {
		check.Fails(t, check.Err(anonyrag.Load(fsys)), want)
	}
}

// The counts of the paper's Table 4: a question of five hops is complex, and the notes of a
// report count by book.
func TestTable4(t *testing.T) {
	chs, eng := anonyrag.Language{Name: "chs"}, anonyrag.Language{Name: "eng"}
	for _, b := range []struct {
		in     *anonyrag.Language
		book   string
		counts [4]int // choice simple and complex, reversion simple and complex
	}{
		{&chs, "Water Margin", [4]int{29, 24, 65, 146}}, {&chs, "Dream of the Red Chamber", [4]int{26, 34, 50, 314}},
		{&eng, "Moby-Dick", [4]int{54, 51, 51, 142}}, {&eng, "Middlemarch", [4]int{54, 22, 116, 219}},
	} {
		for i, n := range b.counts {
			q := anonyrag.QA{Format: []string{anonyrag.Choice, anonyrag.Reversion}[i/2], Hops: 4 + i%2, Book: b.book}
			b.in.QA = append(b.in.QA, slices.Repeat([]anonyrag.QA{q}, n)...)
		}
	}
	set, got := anonyrag.Dataset("", chs, eng), make(map[string]int)
	for _, d := range set.Domains {
		got[d.Name] = len(d.Items)
		for _, it := range d.Items {
			got[it.Type]++
		}
	}
	want := map[string]int{"choice-simple": 163, "choice-complex": 131, "reversion-simple": 282, "reversion-complex": 821, "chs": 688, "eng": 709}
	if diff := cmp.Diff(want, got); diff != "" || len(set.Notes) != 16 || !slices.Contains(set.Notes, "Middlemarch, reversion-complex: 219 questions") {
		t.Errorf("notes %q (-want +got):\n%s", set.Notes, diff)
	}
}

// Whatever the files hold: an error, or questions that can be asked and answered.
func FuzzLoad(f *testing.F) {
	f.Add(corpus, qa)
	f.Add(`"x"`, `{"question": "q", "answer": "PERSON#1: x", "hops": 3.5}`)
	f.Add("[]", "\ufeff[{}]")
	f.Fuzz(func(t *testing.T, corpus, qa string) {
		set, err := anonyrag.Load(folder("eng_corpus.json", corpus, "eng_qa.json", qa))
		if err != nil {
			return
		}
		keys := make(map[string]bool)
		for _, k := range set.Types {
			keys[k.Key] = true
		}
		for it := range set.Items() {
			check.Must(t, strings.TrimSpace(it.Question.Text) != "" && keys[it.Type], "%+v", it)
			_, letter := anonyrag.ParseChoice(it.Reference)
			check.Must(t, strings.HasPrefix(it.Type, anonyrag.Choice) == letter || len(anonyrag.GoldOf(it.Reference)) != 0, "nothing is right: %+v", it)
		}
	})
}
