// SPDX-License-Identifier: Apache-2.0

package wildgraph_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
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
		Gold:      []benchmark.Unit{{"Hearing of Owls.txt"}}, // found though its letters differ in case
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
	// The version depends on the corpus, on which answers depend; records contain question and gold themselves.
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
		want   string // part of the error's message
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
		{"no answer", set(qa, `{"question": "q", "question_type": "single", "ref_urls": ["http://c.example/"]}`), "has no answer"},
		{"no statements", set(qa, `{"question": "q", "question_type": "summary", "ref_urls": ["http://c.example/"]}`), "has no gold_statements"},
		{"statements without a word", set(qa, `{"question": "q", "question_type": "summary", "gold_statements": [null, "", " "], "ref_urls": ["http://c.example/"]}`), "has no gold_statements"},
		{"blank URL", set(qa, `{"question": "q", "question_type": "single", "answer": "a", "ref_urls": [" "]}`), qa + ":1: an empty URL in ref_urls"},
		{"no URLs", set(qa, `{"question": "q", "question_type": "single", "answer": "a"}`), "no ref_urls"},
		{"question asked twice", set(qa, strings.Repeat(`{"question": "q", "question_type": "single", "answer": "a", "ref_urls": ["http://c.example/"]}`+"\n", 2)), qa + ":2: line 1 asks the same question"},
		{"missing page", func(m fstest.MapFS) { delete(m, "corpus/birds/Owl/reference_pages/page.txt") }, qa + ":4: no page for http://c.example/"},
		{"empty question file", set(qa, "\n"), "has no question"},
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

// released opens the real data set, or skips the test.
func released(tb testing.TB) fs.FS {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		tb.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	return os.DirFS(dir)
}

// table5 is WildGraphBench, Table 5: numbers of single-fact, multi-fact and summary questions.
var table5 = map[string][3]int{
	"culture": {86, 37, 32}, "geography": {41, 24, 33}, "health": {76, 19, 55}, "history": {25, 1, 10},
	"human_activities": {83, 13, 44}, "mathematics": {21, 1, 11}, "nature": {18, 0, 10}, "people": {77, 32, 45},
	"philosophy": {46, 6, 18}, "religion": {72, 4, 30}, "society": {66, 21, 27}, "technology": {56, 33, 24},
}

func TestReleasedData(t *testing.T) {
	set, err := wildgraph.Load(released(t), benchmark.LoadOptions{})
	if err != nil {
		t.Fatal(err) // fails also if the page of a question's URL is missing
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

// FuzzLoad damages every file that is parsed. Whatever is loaded is valid: every question has its text, its
// gold is among the documents, and a second reading is the same.
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

// Empty and repeated gold statements are not counted, and reported.
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

// A title is short, however long the first line is.
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
		// A cut may leave a blank or a hyphen before it; apart from that the slug of a slug is the slug.
		check.Equal(t, wildgraph.Slug(s), strings.TrimRight(s, " -"), "Slug is not stable on %q", s)
	})
}

// The tables of the paper are consistent: accuracies are of whole questions, averages are weighted by
// questions, the domains add up to Table 2, and Table 2's F1 is the harmonic mean of its recall and precision.
// A wrongly copied figure breaks one of these.
func TestPublishedAddsUp(t *testing.T) {
	p := wildgraph.Published(slices.Collect(maps.Keys(table5)))
	whole := make(map[string]benchmark.PublishedRow)
	correct := make(map[string][2]float64)
	rows := 0
	for _, r := range p.Rows {
		if strings.HasSuffix(r.Source, "Table 3") {
			continue
		}
		rows++
		if r.Domain == "" {
			whole[r.System] = r
			p, q := *r.Precision, *r.Recall
			f1 := 2 * p * q / (p + q)
			check.True(t, math.Abs(f1-*r.F1OfMeans) <= 1.1e-4 && r.F1MeanOfQuestions == nil, "%s: F1 of means %v, want %v", r.System, *r.F1OfMeans, f1)
			continue
		}
		check.True(t, r.F1MeanOfQuestions != nil && r.F1OfMeans == nil, "%s on %s: which F1 is it?", r.System, r.Domain)
		n := table5[r.Domain]
		got := [2]float64{*r.SingleFact * float64(n[0]), *r.MultiFact * float64(n[1])}
		sum := correct[r.System]
		for i := range got {
			check.True(t, math.Abs(got[i]-math.Round(got[i])) <= 0.011*float64(n[i])/100+1e-9,
				"%s on %s: %v correct answers", r.System, r.Domain, got[i])
			sum[i] += math.Round(got[i])
		}
		correct[r.System] = sum
		avg := (math.Round(got[0]) + math.Round(got[1])) / float64(n[0]+n[1])
		check.True(t, math.Abs(avg-*r.AvgAccuracy) <= 2.1e-4, "%s on %s: average %v, want %v", r.System, r.Domain, *r.AvgAccuracy, avg)
	}
	check.True(t, rows == 8*13 && len(whole) == 8, "%d rows of %d systems, want 13 tables of 8", rows, len(whole))
	for name, r := range whole {
		c := correct[name]
		for _, f := range []struct{ got, want float64 }{
			{*r.SingleFact, c[0] / 667}, {*r.MultiFact, c[1] / 191}, {*r.AvgAccuracy, (c[0] + c[1]) / 858},
		} {
			check.True(t, math.Abs(f.got-f.want) <= 1.1e-4,
				"%s: Table 2 has %v, the domains add up to %v", name, f.got, f.want)
		}
	}
}

// The human average is weighted 667 to 191 in the paper, and 84.40 with the 77 and 32 questions that people
// answered, as its note says.
func TestPublishedHuman(t *testing.T) {
	p := wildgraph.Published([]string{"people"})
	var human []benchmark.PublishedRow
	for _, r := range p.Rows {
		if r.System == wildgraph.Human {
			human = append(human, r)
		}
	}
	check.Must(t, len(human) == 1 && human[0].Domain == "people" && strings.Contains(human[0].Source, "Table 3"), "human rows: %+v", human)
	h := human[0]
	mean := func(n, m float64) float64 { return (*h.SingleFact*n + *h.MultiFact*m) / (n + m) }
	if math.Abs(mean(667, 191)-*h.AvgAccuracy) > 1e-4 || math.Abs(mean(77, 32)-0.8440) > 1e-4 || !strings.Contains(h.Note, "84.40") {
		t.Errorf("averages %v and %v, printed %v", mean(667, 191), mean(77, 32), *h.AvgAccuracy)
	}
}

// The rows of Table 3 are the ones of the paper's text; their averages are weighted by the questions of the
// whole benchmark, 667 to 191, unlike those of other tables.
func TestPublishedTable3(t *testing.T) {
	n := 0
	for _, r := range wildgraph.Published([]string{"people"}).Rows {
		if !strings.HasSuffix(r.Source, "Table 3") || r.System == wildgraph.Human {
			continue
		}
		n++
		if mean := (*r.SingleFact*667 + *r.MultiFact*191) / 858; math.Abs(mean-*r.AvgAccuracy) > 1e-4 || !strings.Contains(r.Note, "Table 13") {
			t.Errorf("%s: the average is %v, want %v (%s)", r.System, *r.AvgAccuracy, mean, r.Note)
		}
	}
	check.Equal(t, n, 8, "rows")
}

// Rows cover the requested domains.
func TestPublishedDomains(t *testing.T) {
	p := wildgraph.Published([]string{"nature"})
	for _, r := range p.Rows {
		check.True(t, r.Domain == "" || r.Domain == "nature", "a row about %s", r.Domain)
	}
	p = wildgraph.Published([]string{"astronomy"})
	check.True(t, p == nil, "other domains have published rows: %+v", p)
}

// The cells were compared with the tables of the paper one by one. After a change, compare the changed cells
// and set the new sum here.
func TestPublishedCells(t *testing.T) {
	rows, err := json.Marshal(wildgraph.Published(slices.Sorted(maps.Keys(table5))))
	got := fmt.Sprintf("%x", sha256.Sum256(rows))[:16]
	check.True(t, err == nil && got == "4b1e3e8681b4a327", "the sum of the cells is %s, not that of the cells that were compared (%v)", got, err)
}

func ExampleLoad() {
	// With a checkout of the data set use os.DirFS("WildGraphBench").
	set, err := wildgraph.Load(small(), benchmark.LoadOptions{Domains: []string{"birds"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(set.Domains[0].Items), "questions over", set.Domains[0].Pages, "pages")
	for _, it := range set.Domains[0].Items {
		fmt.Println(it.Question.ID, it.Type, it.Gold)
	}
	// Output:
	// 3 questions over 4 pages
	// birds/1 single-fact [[Hearing of Owls.txt]]
	// birds/2 multi-fact [[Hearing of Owls.txt] [Sight.txt Vision.txt]]
	// birds/4 summary [[Sight.txt Vision.txt] [page.txt]]
}

func ExampleSlug() {
	fmt.Println(wildgraph.Slug("Typhoon Bolaven: 59 dead – CNN.com"))
	// Output:
	// Typhoon Bolaven 59 dead CNNcom
}

// golden holds evidence recall at 5 and 10 in percent, with a budget of
// chunks, of an independent implementation of BM25 in another language: k1
// 1.2, b 0.75, lower-cased runs of letters and numbers, windows of 1,200 words
// with a stride of 1,100, or of 1,200 pieces; all, single, multi, summary.
var golden = map[string]map[string][8]float64{
	"words": {
		"history":          {48.7, 60.5, 64.0, 76.0, 0.0, 0.0, 15.3, 27.8},
		"human_activities": {45.8, 55.2, 62.7, 72.3, 21.2, 36.5, 21.3, 28.4},
		"mathematics":      {63.4, 68.4, 81.0, 85.7, 50.0, 66.7, 31.2, 35.5},
		"nature":           {58.2, 61.7, 72.2, 72.2, math.NaN(), math.NaN(), 32.9, 42.9},
		"people":           {43.2, 50.3, 66.2, 71.4, 32.6, 44.3, 11.5, 18.4},
		"philosophy":       {39.0, 45.9, 52.2, 58.7, 13.9, 30.6, 13.9, 18.4},
		"all":              {46.2, 53.9, 64.1, 71.1, 27.4, 40.4, 18.3, 25.4},
	},
	"pieces": {
		"history":          {52.9, 56.0, 72.0, 72.0, 0.0, 0.0, 10.3, 21.5},
		"human_activities": {49.2, 56.6, 67.5, 74.7, 30.8, 32.7, 20.2, 29.6},
		"mathematics":      {61.4, 66.4, 81.0, 81.0, 66.7, 66.7, 23.6, 38.5},
		"nature":           {58.8, 59.9, 72.2, 72.2, math.NaN(), math.NaN(), 34.5, 37.9},
		"people":           {49.1, 57.9, 70.1, 79.2, 45.5, 55.1, 15.8, 23.5},
		"philosophy":       {44.0, 47.2, 58.7, 63.0, 13.9, 13.9, 16.7, 17.8},
		"all":              {50.1, 56.5, 68.5, 74.1, 37.8, 44.1, 18.9, 26.8},
	},
}

// The plain BM25 lands within rounding of the independent figures, on every
// domain and type.
func TestGoldenBM25(t *testing.T) {
	fsys := released(t)
	splitters := map[string]chunk.Splitter{
		"words":  windows{regexp.MustCompile(`[^\s\pZ]+`)},
		"pieces": windows{regexp.MustCompile(`[\pL\pN_]+|[^\s\pZ]`)},
	}
	set := check.Of(wildgraph.Load(fsys, benchmark.LoadOptions{})).OK(t)
	for name, splitter := range splitters {
		t.Run(name, func(t *testing.T) {
			var all tally
			for _, d := range set.Domains {
				var one tally
				retriever := plain(t, d, splitter)
				for _, it := range d.Items {
					found := check.Of(retriever.Retrieve(t.Context(), graphrag.Question{Text: it.Question.Text, K: 10})).OK(t)
					e := it.Measure(record.NewAnswer(record.Key{}, graphrag.Answer{Found: found}, nil, false))
					one.add(it, e)
					all.add(it, e)
				}
				one.compare(t, name, d.Name)
			}
			if len(set.Domains) == 6 {
				all.compare(t, name, "all")
			}
		})
	}
}

// windows splits a text into windows of 1,200 units; neighbours share 100.
type windows struct{ unit *regexp.Regexp }

func (w windows) Split(_ context.Context, s string) (spans []chunk.Span, err error) {
	units := w.unit.FindAllStringIndex(s, -1)
	for first := 0; first == 0 || first+100 < len(units); first += 1100 {
		span := chunk.Span{End: len(s), Tokens: min(1200, len(units)-first)}
		if first > 0 {
			span.Start = units[first][0]
		}
		if first+1200 < len(units) {
			span.End = units[first+1200][0]
		}
		spans = append(spans, span)
	}
	return spans, nil
}

func plain(t *testing.T, d benchmark.Domain, s chunk.Splitter) *retrieve.Sparse {
	t.Helper()
	chunker := check.Of(chunk.New(chunk.Options{Splitter: s})).OK(t)
	chunks := check.Of(chunker.All(t.Context(), d.Documents())).OK(t)
	return check.Of(retrieve.NewSparse(t.Context(), chunks, bm25.Plain())).OK(t)
}

// tally sums recall at 5 and at 10 over all questions and over each type.
type tally struct {
	sum [8]float64
	n   [4]int
}

func (a *tally) add(it benchmark.Item, e benchmark.Evidence) {
	types := map[string]int{wildgraph.SingleFact: 1, wildgraph.MultiFact: 2, wildgraph.Summary: 3}
	for _, i := range []int{0, types[it.Type]} {
		a.sum[2*i] += *e.RecallAt5
		a.sum[2*i+1] += *e.RecallAt10
		a.n[i]++
	}
}

func (a *tally) compare(t *testing.T, splitter, domain string) {
	t.Helper()
	want, known := golden[splitter][domain]
	if !known {
		return
	}
	for i, sum := range a.sum {
		got := 100 * sum / float64(a.n[i/2])
		check.True(t, math.Abs(got-want[i]) <= 0.1 || math.IsNaN(got) && math.IsNaN(want[i]),
			"%s, %s, figure %d: %.2f %%, want %.1f", splitter, domain, i, got, want[i])
	}
	t.Log(splitter, domain, fmt.Sprintf("R@5 %.2f", 100*a.sum[0]/float64(a.n[0])))
}
