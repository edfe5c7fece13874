// SPDX-License-Identifier: Apache-2.0

package wildgraph_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

// small returns a complete data set of one domain that tests may damage.
func small() fstest.MapFS {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	const topic = "corpus/birds/Owl"
	return fstest.MapFS{
		"QA/birds/questions.jsonl": text(`{"question": "How far can an owl hear a mouse?", "question_type": ["single-fact"], "answer": "An owl hears a mouse at 20 metres.", "ref_urls": ["http://a.example/hearing"]}
{"question": "Which two senses do owls hunt with?", "question_type": ["multi_fact"], "answer": "Owls hunt by ear and eye.", "ref_urls": ["http://a.example/hearing", "http://b.example/sight"]}

{"question": "How do owls hunt?", "question_type": ["summary"], "gold_statements": ["Owls hunt by ear and eye.", "Owls fly silently."], "ref_urls": ["http://b.example/sight", "http://c.example/"]}
`),
		topic + "/Owl.txt": text("the article, never indexed"),
		topic + "/references.jsonl": text(`{"title": "Hearing: of owls", "url": "http://a.example/hearing#top", "archive_url": ""}
{"title": "Sight", "url": "http://b.example/sight", "archive_url": ""}
{"title": "Vision", "url": "http://b.example/sight", "archive_url": ""}
{"title": "猫头鹰", "url": "http://c.example/", "archive_url": ""}
{"title": "Gone", "url": "http://gone.example/", "archive_url": ""}
`),
		topic + "/reference_pages/Hearing of Owls.txt": text("# Hearing: of owls\n\nAn owl hears a mouse.\x00\n"),
		topic + "/reference_pages/Sight.txt":           text("# Sight\n\nEyes.\n"),
		topic + "/reference_pages/Vision.txt":          text("# Vision\n\nMore eyes.\n"),
		topic + "/reference_pages/page.txt":            text("# 猫头鹰\n\n夜行。\n"),
		topic + "/reference_pages/notes.md":            text("not a page"),
		"extracted_data/birds/Owl/valid_triples.jsonl": text(`{"section_path": ["Owl", "Diet"], "section_body": "Mice.", "triples": [{"statement": "Owls eat mice."}, {"statement": null}]}
{"section_path": ["Owl", "Hunting"], "section_body": "Owls hunt.[[1]](http://x.example/a_(b) more  http://y.example/z text\n\n\n\nend", "triples": [{"statement": "Owls hunt by ear and eye."}, {"statement": "Owls fly silently."}]}
`),
	}
}

func TestLoad(t *testing.T) {
	set := check.Of(wildgraph.Load(small(), benchmark.LoadOptions{})).OK(t)
	d := set.Domains[0]
	want := []benchmark.Item{{
		Type: wildgraph.SingleFact, Question: graphrag.Question{ID: "birds/1", Text: "How far can an owl hear a mouse?"},
		Reference: "An owl hears a mouse at 20 metres.",
		Gold:      []benchmark.Unit{{"Hearing of Owls.txt"}}, // found without regard to case
	}, {
		Type: wildgraph.MultiFact, Question: graphrag.Question{ID: "birds/2", Text: "Which two senses do owls hunt with?"},
		Reference: "Owls hunt by ear and eye.",
		Gold:      []benchmark.Unit{{"Hearing of Owls.txt"}, {"Sight.txt", "Vision.txt"}},
	}, {
		Type: wildgraph.Summary, Question: graphrag.Question{ID: "birds/4", Text: "How do owls hunt?"},
		Statements: []string{"Owls hunt by ear and eye.", "Owls fly silently."},
		Gold:       []benchmark.Unit{{"Sight.txt", "Vision.txt"}, {"page.txt"}},
	}}
	check.Equal(t, d.Items, want, "items")
	diff := cmp.Diff([]string{"birds: left out of reference_pages, being no .txt (1): notes.md"}, set.Notes)
	check.True(t, diff == "" && d.Pages == 4 && d.Bytes == 102, "%d pages, %d bytes, notes (-want +got):\n%s", d.Pages, d.Bytes, diff)
	var docs []graphrag.Document
	for doc, err := range d.Documents() {
		check.OK(t, err)
		docs = append(docs, doc)
	}
	if len(docs) != 4 || docs[0].ID != "Hearing of Owls.txt" || docs[0].Title != "Hearing: of owls" ||
		docs[0].Source != "http://a.example/hearing" || !strings.HasSuffix(docs[0].Text, "mouse.\x00\n") {
		t.Errorf("documents: %+v", docs)
	}
}

func TestFingerprint(t *testing.T) {
	print := func(damage func(fstest.MapFS)) string {
		fsys := small()
		damage(fsys)
		set := check.Of(wildgraph.Load(fsys, benchmark.LoadOptions{})).OK(t)
		return set.Domains[0].Fingerprint
	}
	base := print(func(fstest.MapFS) {})
	check.Equal(t, base, print(func(fstest.MapFS) {}), "the fingerprint of one data set differs from call to call")
	// It is the corpus that answers depend on; records name the question and
	// the gold themselves.
	for name, tt := range map[string]struct {
		damage func(fstest.MapFS)
		same   bool
	}{
		"page":     {func(m fstest.MapFS) { m["corpus/birds/Owl/reference_pages/Sight.txt"].Data[9]++ }, false},
		"question": {func(m fstest.MapFS) { m["QA/birds/questions.jsonl"].Data[15]++ }, true},
		"section":  {func(m fstest.MapFS) { delete(m, "extracted_data/birds/Owl/valid_triples.jsonl") }, true},
	} {
		same := print(tt.damage) == base
		check.True(t, same == tt.same, "another %s: the same fingerprint is %v, want %v", name, same, tt.same)
	}
}

func TestLoadErrors(t *testing.T) {
	const qa, refs, page = "QA/birds/questions.jsonl", "corpus/birds/Owl/references.jsonl", "corpus/birds/Owl/reference_pages/Sight.txt"
	set := func(name, data string) func(fstest.MapFS) {
		return func(m fstest.MapFS) { m[name] = &fstest.MapFile{Data: []byte(data)} }
	}
	for _, tt := range []struct {
		name   string
		damage func(fstest.MapFS)
		want   string // part of the message
	}{
		{"no questions folder", func(m fstest.MapFS) { delete(m, qa) }, "point to the folder"},
		{"no corpus", func(m fstest.MapFS) {
			for name := range m {
				if strings.HasPrefix(name, "corpus") {
					delete(m, name)
				}
			}
		}, "corpus is missing"},
		{"no references", func(m fstest.MapFS) { delete(m, refs) }, "references.jsonl"},
		{"malformed line", set(qa, "{}\n{\"question\": \n"), qa + ":2"},
		{"line that is no object", set(qa, "\n[1]\n"), qa + ":2"},
		{"deep nesting", set(qa, `{"question": `+strings.Repeat("[", 100_000)), qa + ":1"},
		{"unknown type", set(qa, `{"question": "q", "question_type": ["riddle"], "answer": "a", "ref_urls": ["http://c.example/"]}`), `"riddle"`},
		{"no type", set(qa, `{"question": "q", "answer": "a", "ref_urls": ["http://c.example/"]}`), "0 types"},
		{"empty question", set(qa, `{"question": " ", "question_type": "single", "answer": "a", "ref_urls": ["http://c.example/"]}`), "question is empty"},
		{"no answer", set(qa, `{"question": "q", "question_type": "single", "ref_urls": ["http://c.example/"]}`), "without answer"},
		{"no statements", set(qa, `{"question": "q", "question_type": "summary", "ref_urls": ["http://c.example/"]}`), "without gold_statements"},
		{"statements without a word", set(qa, `{"question": "q", "question_type": "summary", "gold_statements": [null, "", " "], "ref_urls": ["http://c.example/"]}`), "without gold_statements"},
		{"blank URL", set(qa, `{"question": "q", "question_type": "single", "answer": "a", "ref_urls": [" "]}`), qa + ":1: an empty URL in ref_urls"},
		{"no URLs", set(qa, `{"question": "q", "question_type": "single", "answer": "a"}`), "no ref_urls"},
		{"question asked twice", set(qa, strings.Repeat(`{"question": "q", "question_type": "single", "answer": "a", "ref_urls": ["http://c.example/"]}`+"\n", 2)), qa + ":2: the question of line 1 again"},
		{"missing page", func(m fstest.MapFS) { delete(m, "corpus/birds/Owl/reference_pages/page.txt") }, qa + ":4: no page for http://c.example/"},
		{"empty question file", set(qa, "\n"), "holds no question"},
		{"page not UTF-8", set(page, "# Sight\n\nna\xefve\n"), page + ":3: not valid UTF-8"},
		{"references not UTF-8", set(refs, "{\"title\": \"\xff\"}"), refs + ":1: not valid UTF-8"},
		{"two topics", set("corpus/birds/Hawk/references.jsonl", ""), "2 topic folders"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := small()
			tt.damage(fsys)
			_, err := wildgraph.Load(fsys, benchmark.LoadOptions{})
			check.True(t, err != nil && strings.Contains(err.Error(), tt.want), "error %v, want one with %q", err, tt.want)
		})
	}
	check.Is(t, check.Err(wildgraph.Load(small(), benchmark.LoadOptions{Domains: []string{"fish"}})), benchmark.ErrUnknownDomain, "unknown domain")
}

// released opens the real data set, or skips.
func released(tb testing.TB) fs.FS {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		tb.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	return os.DirFS(dir)
}

// table5 is WildGraphBench, Table 5: single-fact, multi-fact, summary.
var table5 = map[string][3]int{
	"culture": {86, 37, 32}, "geography": {41, 24, 33}, "health": {76, 19, 55}, "history": {25, 1, 10},
	"human_activities": {83, 13, 44}, "mathematics": {21, 1, 11}, "nature": {18, 0, 10}, "people": {77, 32, 45},
	"philosophy": {46, 6, 18}, "religion": {72, 4, 30}, "society": {66, 21, 27}, "technology": {56, 33, 24},
}

func TestReleasedData(t *testing.T) {
	set, err := wildgraph.Load(released(t), benchmark.LoadOptions{})
	if err != nil {
		t.Fatal(err) // also when any question URL has no page
	}
	for _, d := range set.Domains {
		n := map[string]int{}
		for _, it := range d.Items {
			n[it.Type]++
		}
		got := [3]int{n[wildgraph.SingleFact], n[wildgraph.MultiFact], n[wildgraph.Summary]}
		check.Equal(t, got, table5[d.Name], "%s has %v questions, Table 5 has %v", d.Name, got, table5[d.Name])
		t.Logf("%s: %d pages, %d bytes", d.Name, d.Pages, d.Bytes)
	}
}

// FuzzLoad damages every file that is parsed. What loads is sound: every question
// has its text, its gold is among the documents, and a second reading is the same.
func FuzzLoad(f *testing.F) {
	const topic = "corpus/birds/Owl/"
	names := []string{"QA/birds/questions.jsonl", topic + "references.jsonl", "extracted_data/birds/Owl/valid_triples.jsonl", topic + "reference_pages/Sight.txt"}
	seed := func(i int, data string) {
		var files [4][]byte
		for j, name := range names {
			files[j] = small()[name].Data
		}
		if data != "" {
			files[i] = []byte(data)
		}
		f.Add(files[0], files[1], files[2], files[3])
	}
	seed(0, "")
	seed(0, `{"question": "q", "question_type": "single", "answer": "a", "ref_urls": ["http://c.example/"]}`)
	seed(1, `{"title": "Owls", "url": "http://c.example/", "archive_url": "http://c.example/"}`)
	seed(2, `{"section_path": ["Owl"], "section_body": "[[[[", "triples": [{"statement": "Owls fly silently."}]}`)
	seed(3, "# \xff\xfe")
	f.Fuzz(func(t *testing.T, questions, references, triples, page []byte) {
		fsys := small()
		for i, data := range [][]byte{questions, references, triples, page} {
			fsys[names[i]].Data = data
		}
		set, err := wildgraph.Load(fsys, benchmark.LoadOptions{})
		if err != nil {
			return
		}
		d := set.Domains[0]
		docs := map[string]bool{}
		for doc, err := range d.Documents() {
			check.Must(t, err == nil && doc.ID != "" && !docs[doc.ID] && utf8.ValidString(doc.ID+doc.Title+doc.Text), "document %q: %v", doc.ID, err)
			docs[doc.ID] = true
		}
		ids := map[string]bool{}
		for _, item := range d.Items {
			check.True(t, strings.TrimSpace(item.Question.Text) != "" && !ids[item.Question.ID] && len(item.Gold) != 0, "item %+v", item)
			ids[item.Question.ID] = true
			for _, unit := range item.Gold {
				for _, doc := range unit {
					check.True(t, docs[doc], "question %s: gold %q is no document", item.Question.ID, doc)
				}
			}
		}
		check.Equal(t, d.Pages, len(docs), "%d pages, %d documents", d.Pages, len(docs))
		again, err := wildgraph.Load(fsys, benchmark.LoadOptions{})
		check.True(t, err == nil && again.Domains[0].Fingerprint == d.Fingerprint, "read again it is another data set, %v", err)
	})
}

// Gold statements that say nothing, or the same again, count nowhere, and it is said.
func TestOddStatements(t *testing.T) {
	fsys := small()
	qa := fsys["QA/birds/questions.jsonl"]
	qa.Data = []byte(strings.Replace(string(qa.Data), `"Owls fly silently."`, `null, "Owls fly silently.", " ", "Owls  fly silently. ", ""`, 1))
	set := check.Of(wildgraph.Load(fsys, benchmark.LoadOptions{})).OK(t)
	check.Equal(t, set.Domains[0].Items[2].Statements, []string{"Owls hunt by ear and eye.", "Owls fly silently."})
	want := []string{
		"birds: left out of reference_pages, being no .txt (1): notes.md",
		"birds: gold statements left out, being null, blank or repeated (1): 4 of birds/4",
	}
	check.Equal(t, set.Notes, want)
}

// A title is short, whatever the first line is.
func TestTitles(t *testing.T) {
	const page = "corpus/birds/Owl/reference_pages/Sight.txt"
	words := strings.Repeat("eyes ", 1000)
	for text, want := range map[string]string{
		"# Sight\n\nEyes.":              "Sight",
		"Sight\r\nEyes.":                "Sight",
		"\nEyes.":                       "",
		"# " + words + "\nx":            strings.TrimSpace(words[:wildgraph.MaxTitle]),
		"<html>" + words:                "Sight",
		"# " + words[:300]:              strings.TrimSpace(words[:300]),
		strings.Repeat("x", 1e6):        "Sight",
		"# " + strings.Repeat("é", 1e6): "Sight",
	} {
		fsys := small()
		fsys[page].Data = []byte(text)
		set := check.Of(wildgraph.Load(fsys, benchmark.LoadOptions{})).OK(t)
		for doc, err := range set.Domains[0].Documents() {
			check.True(t, err == nil && (doc.ID != "Sight.txt" || doc.Title == want),
				"%.40q: title %.40q, want %.40q; %v", text, doc.Title, want, err)
		}
	}
}

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"":                        "page",
		"猫":                       "page",
		" - a_b  c - ":            "a b c",
		"Caf\u00e9 — menu":        "Caf menu",
		"tab\tand\u00a0nbsp":      "tab and nbsp",
		"A-B: c/d (e)":            "A-B cd e",
		strings.Repeat("x", 90):   strings.Repeat("x", 80),
		strings.Repeat("ab ", 30): strings.Repeat("ab ", 26) + "ab",
		// the cut leaves a blank that belongs to the name
		strings.Repeat("x", 79) + " y": strings.Repeat("x", 79) + " ",
		strings.Repeat("x", 79) + "-y": strings.Repeat("x", 79),
	} {
		check.Equal(t, wildgraph.Slug(title), want, "Slug(%q)", title)
	}
}

func TestJoinTraps(t *testing.T) {
	j := wildgraph.NewJoin([]wildgraph.Reference{
		{Title: "Archived", URL: "http://a.example/1"},
		{Title: "Archived", URL: "http://a.example/2"},
		{Title: "One title", URL: "http://b.example/#x"},
		{Title: "Other title", URL: "http://b.example/#y"},
		{Title: "Slash", URL: "http://c.example"},
		{Title: "", URL: "http://d.example"},
	}, []string{"Archived.txt", "One title.txt", "OTHER TITLE.txt", "Slash.txt"})
	for url, want := range map[string][]string{
		"http://a.example/1": {"Archived.txt"},
		"http://a.example/2": {"Archived.txt"},
		"http://b.example/":  {"OTHER TITLE.txt", "One title.txt"},
		"http://c.example":   {"Slash.txt"},
		"http://c.example/":  nil, // a trailing slash is another reference
		"http://d.example":   nil,
	} {
		check.Equal(t, j.Pages(url), want, "Pages(%s)", url)
	}
	got := j.URLs("Archived.txt")
	check.Equal(t, len(got), 2, "URLs(Archived.txt) = %q, want both", got)
}

func FuzzSlug(f *testing.F) {
	f.Add("Archived")
	f.Add("— é _ -")
	f.Add(strings.Repeat("ab-", 40))
	f.Add(strings.Repeat("x", 76) + " - y")
	f.Fuzz(func(t *testing.T, title string) {
		s := wildgraph.Slug(title)
		check.True(t, s != "" && len(s) <= 80 && utf8.ValidString(s), "Slug(%q) = %q", title, s)
		// A cut may leave a blank, and a hyphen before it; beyond that a slug
		// is its own slug.
		check.Equal(t, wildgraph.Slug(s), strings.TrimRight(s, " -"), "Slug is not stable on %q", s)
	})
}
