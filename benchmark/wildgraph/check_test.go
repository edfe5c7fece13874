// SPDX-License-Identifier: Apache-2.0

package wildgraph_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
)

// Every kind of oddity is found where it is, and a sound data set has none.
func TestCheck(t *testing.T) {
	sound := small()
	delete(sound, "corpus/birds/Owl/reference_pages/notes.md")
	refs := sound["corpus/birds/Owl/references.jsonl"]
	refs.Data = refs.Data[:strings.Index(string(refs.Data), `{"title": "Gone"`)]
	if got, err := wildgraph.Check(sound, wildgraph.Options{}); err != nil || len(got) > 0 {
		t.Errorf("a sound data set: %+v, %v", got, err)
	}

	odd := small()
	pages := "corpus/birds/Owl/reference_pages/"
	put := func(name, text string) { odd[name] = &fstest.MapFile{Data: []byte(text)} }
	put(pages+"blank.txt", " \n")
	put(pages+"minified.txt", "<html>"+strings.Repeat("x", 400))
	put(pages+"latin.txt", "na\xefve\n")
	qa := odd["QA/birds/questions.jsonl"]
	qa.Data = append(qa.Data, []byte(strings.Join([]string{
		`{"question": "How do owls HUNT", "question_type": ["summary"], "gold_statements": ["Owls fly.", " ", "Owls fly."], "ref_urls": ["http://c.example/"]}`,
		`{"question": "How many owls did the keeper see?", "question_type": "single", "answer": "The keeper Ann Smith saw 12 owls in 1912.", "ref_urls": ["http://c.example/"]}`,
		`{"question": "How many owls did the keeper see, and in which year?", "question_type": "single", "answer": "Ann saw 12 owls in 1912 and 13 in 1913.", "ref_urls": ["http://c.example/"]}`,
		`{"question": "How many mice does an owl eat?", "question_type": "single", "answer": "An owl in Norway eats 3,000 mice.", "ref_urls": ["http://c.example/"]}`,
		`{"question": "Is it true that barn owls hunt by ear?", "question_type": "single", "answer": "Barn owls hunt by ear.", "ref_urls": ["http://c.example/"]}`,
	}, "\n"))...)
	got, err := wildgraph.Check(odd, wildgraph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []wildgraph.Finding{
		{Kind: "questions asked more than once", Places: []string{"birds/5 (as birds/4)"}},
		{Kind: "gold statements that are null, blank or repeated", Places: []string{"birds/5 (2)"}},
		{Kind: "questions that ask for a number, and whose reference demands more", Places: []string{"birds/6"}},
		{Kind: "gold answers that stand in the question", Places: []string{"birds/9"}},
		{Kind: "summaries whose section is not found, or not clear", Places: []string{"birds/5 (0 found)"}},
		{Kind: "references without a page", Places: []string{`birds: "Gone"`}},
		{Kind: "pages without a reference", Places: []string{"birds: blank.txt", "birds: latin.txt", "birds: minified.txt"}},
		{Kind: "pages without a word", Places: []string{"birds: blank.txt"}},
		{Kind: "pages without a line break", Places: []string{"birds: minified.txt"}},
		{Kind: "pages that are not UTF-8", Places: []string{"birds: latin.txt"}},
		{Kind: "pages whose first line is too long for a title", Places: []string{"birds: minified.txt (406 bytes)"}},
		{Kind: "files among the pages that are no .txt", Places: []string{"birds: notes.md"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := wildgraph.Check(odd, wildgraph.Options{Domains: []string{"fish"}}); err == nil {
		t.Error("a domain that is not there is checked")
	}
}
