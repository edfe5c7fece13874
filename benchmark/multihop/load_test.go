// SPDX-License-Identifier: Apache-2.0

package multihop_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/short"
)

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

const (
	hotpotQuestion = `{"_id": "h1", "question": "Which owl hunts by day?", "answer": "Hawk owl", "type": "comparison", "level": "hard",
 "supporting_facts": [["Hawk owl", 0], ["Barn owl", 1], ["Hawk owl", 2]],
 "context": [["Barn owl", ["It hunts at night.", " It is pale."]], ["Hawk owl", ["It hunts by day."]], ["Mouse", ["It is hunted."]]]}`
	twoWikiQuestion = `{"_id": "w1", "question": "Who is the mother of the director?", "answer": "Ann Lee", "answer_id": "Q7", "type": "bridge_comparison",
 "supporting_facts": [["Film", 0], ["Director", 0]], "evidences": [["Film", "director", "Bo Lee"]],
 "context": [["Film", ["Bo Lee made it.", "It is long."]], ["Director", ["His mother is Ann Lee."]]]}`
	musiqueQuestion = `{"id": "3hop1__1_2_3", "question": "Who led the publisher?", "answer": "G. Hall", "answer_aliases": ["Hall", "G. Hall", " "], "answerable": true,
 "question_decomposition": [{"id": 1, "question": "?"}, {"id": 2}, {"id": 3}],
 "paragraphs": [{"idx": 0, "title": "Journal", "paragraph_text": "The APA publishes it.", "is_supporting": true}, {"idx": 1, "title": "APA", "paragraph_text": "G. Hall led it.", "is_supporting": true}, {"idx": 2, "title": "Owl", "paragraph_text": "It hunts.", "is_supporting": false}]}`
	novelQuestion = `{"id": "n1", "source": "Moor", "question": "Where is it?", "answer": "In Kent.", "question_type": "Fact Retrieval", "evidence": ["It is in Kent.", "So is the inn."], "evidence_relations": "x"}`
)

// all is a folder with every data set, in all known layouts.
func all() fstest.MapFS {
	return fstest.MapFS{
		"hotpotqa.json":            text("[" + hotpotQuestion + "]"),
		"hotpotqa_corpus.json":     text(`[{"title": "Owl", "text": "A bird.", "idx": 0}, {"title": "Barn owl", "text": "It hunts at night. It is pale."}, {"title": "Hawk owl", "text": "It hunts by day."}, {"title": "Owl", "text": "A bird."}]`),
		"2wikimultihopqa/dev.json": text("[" + twoWikiQuestion + "]"),
		"2wikimultihopqa/id_aliases.json": text(`{"Q_id": "Q7", "aliases": ["A. Lee", "Ann Lee"], "demonyms": []}
{"Q_id": "Q8", "aliases": ["Else"], "demonyms": ["Elsian"]}
`),
		"musique/musique_ans_v1.0_dev.jsonl": text(strings.ReplaceAll(musiqueQuestion, "\n", " ") + "\n" +
			`{"id": "2hop__9_9", "question": "?", "answer": "", "answerable": false, "paragraphs": []}` + "\n"),
		"Datasets/Questions/novel_questions.json": text("[" + novelQuestion + "," + strings.NewReplacer("n1", "n2", "Moor", "Lane", "Fact Retrieval", "Creative Generation", `["It is in Kent.", "So is the inn."]`, `"It is long."`).Replace(novelQuestion) + "]"),
		"Datasets/Corpus/novel.json":              text(`[{"corpus_name": "Lane", "context": "The lane is in Kent."}, {"corpus_name": "Moor", "context": "The moor is in Kent."}]`),
		"medical_questions.json":                  text(`[{"id": "m1", "source": "Medical", "question": "What is common?", "answer": "BCC.", "question_type": "Contextual Summarize"}]`),
		"medical.json":                            text(`{"corpus_name": "Medical", "context": "BCC is common."}`),
		"books/Question/FB.jsonl":                 text(`{"Question": "A heap is a ____.", "Level-1 Topic": "Data", "Level-2 Topic": "Trees", "Rationale": "It is.", "Answer": "tree"}`),
		"books/Question/MC.jsonl":                 text(`{"Question": "What grows?", "Choices": {"B": "A stone", "A": "A tree"}, "Rationale": "It does.", "Answer": "A"}`),
		"books/Question/MS.jsonl":                 text(`{"Question": "Which are even?", "Choices": ["A. 2", "3", "4"], "Rationale": "", "Answer": "AC"}`),
		"books/Question/TF.jsonl":                 text("{\"Question\": \"Two is even.\", \"Answer\": true}\n{\"Question\": \"Three is even.\", \"Answer\": \"False\"}\n"),
		"books/Question/OE.jsonl":                 text(`{"Question": "Why?", "Rationale": "As said.", "Answer": "So that it ends."}`),
		"books/Corpus/Heaps/Heaps.md":             text("# Heaps\n\nA heap is a tree."),
		"books/Corpus/Heaps/Heaps_content.json":   text("{}"),
		"books/Corpus/Numbers/Numbers.md":         text("# Numbers\n\nTwo is even."),
	}
}

// shown renders a data set: domain, documents, and each question with its gold.
func shown(t *testing.T, set *benchmark.Dataset) []string {
	t.Helper()
	var out []string
	for _, d := range set.Domains {
		var docs []string
		for doc, err := range d.Documents() {
			check.OK(t, err)
			docs = append(docs, doc.ID+"="+doc.Title)
		}
		out = append(out, d.Name+": "+strings.Join(docs, ", "))
		for _, it := range d.Items {
			var gold []string
			for _, u := range it.Gold {
				gold = append(gold, strings.Join(u, "|"))
			}
			line := strings.Join([]string{it.Question.ID, it.Type, it.Question.Text, it.Reference, strings.Join(it.Aliases, "|"), strings.Join(gold, " ")}, " / ")
			out = append(out, "  "+strings.ReplaceAll(line, "\n", "\\n"))
		}
	}
	return append(out, set.Notes...)
}

func TestLoad(t *testing.T) {
	set := check.Of(multihop.Load(all(), benchmark.LoadOptions{})).OK(t)
	want := []string{
		"hotpotqa: 000000=Owl, 000001=Barn owl, 000002=Hawk owl",
		"  h1 / comparison / Which owl hunts by day? / Hawk owl /  / 000001 000002",
		"2wiki: 000000=Film, 000001=Director",
		"  w1 / 2wiki-bridge-comparison / Who is the mother of the director? / Ann Lee / A. Lee / 000000 000001",
		"musique: 000000=Journal, 000001=APA, 000002=Owl",
		"  3hop1__1_2_3 / 3-hop / Who led the publisher? / G. Hall / Hall / 000000 000001",
		"graphrag-bench-medical: Medical=Medical",
		"  m1 / contextual-summarize / What is common? / BCC. /  / ",
		"graphrag-bench-novel/Lane: Lane=Lane",
		"  n2 / creative-generation / Where is it? / In Kent. /  / ",
		"graphrag-bench-novel/Moor: Moor=Moor",
		"  n1 / fact-retrieval / Where is it? / In Kent. /  / ",
		"graphrag-bench-textbooks: Heaps/Heaps.md=Heaps, Numbers/Numbers.md=Numbers",
		"  FB/1 / fill-in-blank / A heap is a ____. / tree /  / ",
		"  MC/1 / multi-choice / What grows?\\nA. A tree\\nB. A stone\\nAnswer with the letter of the one choice that is right. / A /  / ",
		"  MS/1 / multi-select / Which are even?\\nA. 2\\nB. 3\\nC. 4\\nAnswer with the letters of all choices that are right. / AC /  / ",
		"  TF/1 / true-or-false / Two is even.\\nAnswer with True or False. / True /  / ",
		"  TF/2 / true-or-false / Three is even.\\nAnswer with True or False. / False /  / ",
		"  OE/1 / open-ended / Why? / So that it ends. /  / ",
		"hotpotqa: passages that stand in the corpus before: 1",
		"2wiki: no corpus stands beside 2wikimultihopqa/dev.json: the passages are the paragraphs of its questions",
		"musique: no corpus stands beside musique/musique_ans_v1.0_dev.jsonl: the passages are the paragraphs of its questions",
		"musique: left out, having no answer: 1 questions",
	}
	check.Equal(t, shown(t, set), want, "(-want +got)")
	schemes := multihop.Schemes()
	for _, k := range set.Types {
		_, ok := schemes[k.Key]
		check.True(t, ok && k.K == multihop.DefaultK && k.Swept, "type %+v, with a scheme %v", k, ok)
	}
	one, err := multihop.Load(all(), benchmark.LoadOptions{Domains: []string{multihop.TwoWiki}})
	check.True(t, err == nil && len(one.Domains) == 1 && len(one.Types) == 1, "one set: %+v, %v", one, err)
}

// The same questions as tables of the hub hold them, and a corpus of titles.
func TestOtherShapes(t *testing.T) {
	set, err := multihop.Load(fstest.MapFS{
		"hotpotqa_train.json": text(`{"id": "h1", "question": "Which owl hunts by day?", "answer": "Hawk owl", "type": "bridge",
"supporting_facts": {"title": ["Hawk owl", "Gone"], "sent_id": [0, 1]}, "context": {"title": ["Hawk owl"], "sentences": [["It hunts", " by day."]]}}`),
		"hotpotqa_train_corpus.json": text("\ufeff{\"Hawk owl\": [\"It hunts\", \" by day.\"],\n \"Gone\": [\"Not in the context.\"]}"),
	}, benchmark.LoadOptions{})
	check.OK(t, err)
	want := []string{"hotpotqa: 000000=Hawk owl, 000001=Gone", "  h1 / bridge / Which owl hunts by day? / Hawk owl /  / 000000 000001"}
	check.Equal(t, shown(t, set), want, "(-want +got)")
	// Two passages have the title and neither is the gold paragraph: either counts.
	set, err = multihop.Load(fstest.MapFS{
		"hotpotqa.json":        text(hotpotQuestion),
		"hotpotqa_corpus.json": text(`[{"title": "Barn owl", "text": "One."}, {"title": "Barn owl", "text": "Two."}, {"title": "Hawk owl", "text": "Ithuntsbyday."}]`),
	}, benchmark.LoadOptions{})
	check.OK(t, err)
	check.Equal(t, set.Domains[0].Items[0].Gold, []benchmark.Unit{{"000000", "000001"}, {"000002"}}, "gold")
}

// A folder of AnonyRAG, or one inside a folder of that name, whatever its files contain.
func TestHiddenNames(t *testing.T) {
	corpus, qa := text(`{"id": "p", "text": "[PERSON#1] rows."}`), text(`{"question": "Who is [PERSON#1]?", "answer": "{\"[PERSON#1]\": \"Ada\"}"}`)
	for _, files := range []fstest.MapFS{{"eng_corpus.json": corpus, "eng_qa.json": qa}, {"anonyrag/english-chunks.jsonl": corpus, "anonyrag/english-questions.jsonl": qa}} {
		set, err := benchmark.Open(files, benchmark.LoadOptions{}, multihop.Layout)
		check.True(t, err == nil && set.Domains[0].Name == "anonyrag-eng" && set.Depth == 20 &&
			len(set.Judges) != 0, "%+v, %v", set, err)
	}
}

// Every damaged file is an error that names the file, and the line if it has lines.
func TestDamage(t *testing.T) {
	hotpot := func(old, new string) fstest.MapFS {
		return fstest.MapFS{"hotpotqa.json": text("[\n" + strings.Replace(hotpotQuestion, old, new, 1) + "]")}
	}
	replaced := func(file, old, new string) fstest.MapFS {
		m := all()
		m[file] = text(strings.Replace(string(m[file].Data), old, new, 1))
		return m
	}
	without := func(file string) fstest.MapFS {
		m := all()
		delete(m, file)
		return m
	}
	for _, tt := range []struct {
		name string
		fsys fs.FS
		sets []string
		want string
	}{
		{"nothing", fstest.MapFS{"notes.txt": text("x")}, nil, "unknown domain: neither the folder nor a subfolder has a data set"},
		{"no such set", all(), []string{"hotpot"}, `unknown domain "hotpot"; there are hotpotqa,`},
		{"a set that is not there", without("medical_questions.json"), []string{multihop.Medical}, "the folder has no graphrag-bench-medical, whose questions are in one of medical_questions.json"},
		{"no ID", hotpot(`"_id": "h1", `, ""), nil, "hotpotqa.json:2: the question has no ID"},
		{"an ID twice", fstest.MapFS{"hotpotqa.json": text(hotpotQuestion + "\n" + hotpotQuestion)}, nil, `hotpotqa.json:4: two questions have the ID "h1"`},
		{"no question", hotpot("Which owl hunts by day?", "  "), nil, "hotpotqa.json:2: the question is empty"},
		{"no answer", hotpot(`"Hawk owl", "type"`, `"", "type"`), nil, "hotpotqa.json:2: the question has no answer"},
		{"a type", hotpot("comparison", "riddle"), nil, `hotpotqa.json:2: hotpotqa has no type of questions "riddle"`},
		{"no gold", hotpot(`[["Hawk owl", 0], ["Barn owl", 1], ["Hawk owl", 2]]`, "[]"), nil, "hotpotqa.json:2: no paragraph is marked as gold"},
		{"gold that is no list", hotpot(`["Barn owl", 1]`, `[1, 1]`), nil, `hotpotqa.json:2: "supporting_facts" is not a list`},
		{"gold without a title", hotpot(`["Barn owl", 1]`, `[]`), nil, `hotpotqa.json:2: "supporting_facts" is not a list`},
		{"more titles than texts", fstest.MapFS{"hotpotqa.json": text(`{"_id": "h", "context": {"title": ["a", "b"], "sentences": [["x"]]}}`)}, nil, `"context" has 2 titles and 1`},
		{"without an end", fstest.MapFS{"hotpotqa.json": text(strings.Repeat("[", 200_000))}, nil, "hotpotqa.json"},
		{"a context that is no list", hotpot(`["Barn owl", [`, `["Barn owl", 1, [`), nil, `hotpotqa.json:2: "context" is not a list`},
		{"gold beyond the corpus", hotpot(`["Barn owl", 1]`, `["Night owl", 1]`), nil, `hotpotqa.json:2: the gold paragraph "Night owl" is not in the corpus`},
		{"an empty file", fstest.MapFS{"musique.json": text("[]")}, nil, "musique.json has no question"},
		{"a corpus without text", replaced("hotpotqa_corpus.json", `"text": "A bird.", `, ""), nil, `hotpotqa_corpus.json:1: a passage without "text"`},
		{"an empty corpus", replaced("hotpotqa_corpus.json", string(all()["hotpotqa_corpus.json"].Data), "[]"), nil, "hotpotqa_corpus.json has no passage"},
		{"a title twice", fstest.MapFS{"hotpotqa.json": text(hotpotQuestion), "hotpotqa_corpus.json": text(`{"a": ["b"], "a": ["c"]}`)}, nil, `hotpotqa_corpus.json: title 2: two passages have the title "a"`},
		{"a title of no list", fstest.MapFS{"hotpotqa.json": text(hotpotQuestion), "hotpotqa_corpus.json": text(`{"a": ["b"], "c": 7}`)}, nil, `hotpotqa_corpus.json: title 2: json:`},
		{"a corpus cut off", fstest.MapFS{"hotpotqa.json": text(hotpotQuestion), "hotpotqa_corpus.json": text(`{"a": ["b"]`)}, nil, `hotpotqa_corpus.json: title 1: `},
		{"a corpus that is missing", without("Datasets/Corpus/novel.json"), nil, "Datasets/Corpus/novel.json"},
		{"a source that is missing", replaced("medical_questions.json", `"source": "Medical"`, `"source": "Law"`), nil, `medical_questions.json:1: the question is about "Law", which medical.json does not have`},
		{"no choices", replaced("books/Question/MC.jsonl", "Choices", "Chances"), nil, `books/Question/MC.jsonl:1: the question has no "Choices"`},
		{"no books", without("books/Corpus/Heaps/Heaps.md"), nil, ""},
		{"a book that is no text", replaced("books/Corpus/Heaps/Heaps.md", "tree", "\xff"), nil, "Heaps.md:3: not valid UTF-8"},
		{"a key in another case", replaced("musique/musique_ans_v1.0_dev.jsonl", `"Answer"`, `"x"`), nil, ""},
		{"a folder in place of a file", fstest.MapFS{"musique.json/x": text("")}, []string{multihop.MuSiQue}, "the folder has no musique"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := multihop.Load(tt.fsys, benchmark.LoadOptions{Domains: tt.sets})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	check.Is(t, check.Err(multihop.Load(all(), benchmark.LoadOptions{Domains: []string{"x"}})), benchmark.ErrUnknownDomain)
	many := strings.Repeat(`{"id": "x"}`+"\n", 100)
	_, err := multihop.Load(fstest.MapFS{"musique.json": text(many)}, benchmark.LoadOptions{})
	check.True(t, err != nil && strings.Contains(err.Error(), "… and 95 more problems") &&
		strings.Count(err.Error(), "\n") <= 6, "a hundred problems: %v", err)
}

// HippoRAG's sample of MuSiQue: 68, 27 and 5 questions of 2, 3 and 4 hops, and 237 gold
// passages, each one of the 1,890.
func TestMuSiQueTrain(t *testing.T) {
	dir := os.Getenv("MUSIQUE_DIR")
	if dir == "" {
		t.Skip("set MUSIQUE_DIR")
	}
	set := check.Of(multihop.Load(os.DirFS(dir), benchmark.LoadOptions{})).OK(t)
	counts, gold, aliases := count(set)
	if diff := cmp.Diff(map[string]int{"2-hop": 68, "3-hop": 27, "4-hop": 5}, counts); diff != "" || gold != 237 || aliases == 0 || len(set.Notes) > 0 {
		t.Errorf("%s, %d gold passages, %d aliases, notes %v", diff, gold, aliases, set.Notes)
	}
	n, bytes := corpusSize(t, set.Domains[0])
	check.True(t, n == 1890 && bytes == 877933, "%d passages of %d bytes", n, bytes)
	for it := range set.Items() {
		for _, u := range it.Gold {
			check.True(t, len(u) == 1, "%s: gold %v", it.Question.ID, u)
		}
	}
}

// The medical part of GraphRAG-Bench: 2,062 questions about one text.
func TestMedical(t *testing.T) {
	dir := os.Getenv("GRAPHRAGBENCH_DIR")
	if dir == "" {
		t.Skip("set GRAPHRAGBENCH_DIR")
	}
	set := check.Of(multihop.Load(os.DirFS(dir), benchmark.LoadOptions{})).OK(t)
	counts, gold, _ := count(set)
	want := map[string]int{"fact-retrieval": 1098, "complex-reasoning": 509, "contextual-summarize": 289, "creative-generation": 166}
	diff := cmp.Diff(want, counts)
	check.True(t, diff == "" && gold == 0, "%s, %d gold", diff, gold)
	n, bytes := corpusSize(t, set.Domains[0])
	check.True(t, n == 1 && bytes == 1055013, "%d texts of %d bytes", n, bytes)
}

func count(set *benchmark.Dataset) (byType map[string]int, gold, aliases int) {
	byType = make(map[string]int)
	for it := range set.Items() {
		byType[it.Type]++
		gold += len(it.Gold)
		aliases += len(it.Aliases)
	}
	return byType, gold, aliases
}

func corpusSize(t *testing.T, d benchmark.Domain) (n, bytes int) {
	t.Helper()
	for doc, err := range d.Documents() {
		check.OK(t, err)
		n++
		bytes += len(doc.Text)
	}
	return n, bytes
}

// For any file, loading ends with an error that names it, or with questions that a run can ask.
func FuzzLoad(f *testing.F) {
	for name, file := range all() {
		f.Add(name, file.Data)
	}
	names := slices.Sorted(maps.Keys(all()))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if !slices.Contains(names, name) {
			name = names[len(name)%len(names)]
		}
		m := all()
		m[name] = &fstest.MapFile{Data: data}
		set, err := multihop.Load(m, benchmark.LoadOptions{})
		if err != nil {
			check.True(t, strings.HasPrefix(err.Error(), "multihop: "), "%v", err)
			return
		}
		for it := range set.Items() {
			check.True(t, it.Question.ID != "" && strings.TrimSpace(it.Question.Text) != "" && strings.TrimSpace(it.Reference) != "", "%+v", it)
			for _, u := range it.Gold {
				check.True(t, len(u) != 0, "%s has gold that no passage is", it.Question.ID)
			}
		}
	})
}

// Rows of the paper, copied by hand: of every table the first system, the last one, and one between.
func TestPublished(t *testing.T) {
	const deepseek, qwen = "DeepSeek-V3-0324", "Qwen3-32B"
	n := 0
	for _, tt := range []struct {
		k                        int
		mode, model, system, set string
		want                     float64 // NaN if the table has no figure
	}{
		{20, "open", deepseek, "zeroshot", multihop.HotpotQA, 53.7},
		{20, "reject", deepseek, "naiverag", multihop.MuSiQue, 30.63},
		{20, "reject", deepseek, "gretriever", multihop.TwoWiki, 5},
		{20, "open", deepseek, "hipporag2", "anonyrag-chs", 12.92},
		{20, "reject", qwen, "hipporag-ircot", multihop.TwoWiki, 65.4},
		{20, "open", qwen, "youtu", "anonyrag-eng", 40.05},
		{10, "open", deepseek, "naiverag", multihop.HotpotQA, 79.4},
		{10, "open", deepseek, "gretriever", multihop.Textbooks, 70.24},
		{10, "reject", deepseek, "youtu", multihop.MuSiQue, 46.9},
		{20, "reject", deepseek, "youtu-nocommunity", multihop.TwoWiki, 75.1},
		{20, "open", deepseek, "youtu-noschema", "anonyrag-chs", 35.61},
		{20, "reject", deepseek, "youtu", multihop.HotpotQA, 81.2},
		{20, "reject", deepseek, "zeroshot", multihop.HotpotQA, math.NaN()},
		{7, "open", deepseek, "youtu", multihop.HotpotQA, math.NaN()},
	} {
		got := math.NaN()
		for _, p := range multihop.Published(tt.k, tt.mode).Rows {
			if p.Model == tt.model && p.System == tt.system && p.Domain == tt.set {
				got = 100 * *p.AvgAccuracy
			}
		}
		check.True(t, (math.Abs(got-tt.want) < 1e-9 || math.IsNaN(got+tt.want)) &&
			math.IsNaN(got) == math.IsNaN(tt.want), "%+v: %v", tt, got)
	}
	for _, k := range []int{10, 20} {
		for _, mode := range []string{"open", "reject"} {
			n += len(multihop.Published(k, mode).Rows)
		}
	}
	// Table 1: eleven systems with nine figures and one with six, seven with nine and one
	// with six; Table 2: ten with nine; Table 3: two that are not in Table 1, with six.
	want := 11*9 + 6 + 7*9 + 6 + 10*9 + 2*6
	check.Equal(t, n, want, "figures")
}

// The cells were compared with the tables of the paper one by one. After a change, compare the changed cells
// and set the new sum here.
func TestPublishedCells(t *testing.T) {
	h := sha256.New()
	for _, k := range []int{10, 20} {
		for _, mode := range []string{"open", "reject"} {
			p := multihop.Published(k, mode)
			for i, r := range p.Rows {
				n := map[string]int{"anonyrag-chs": 688, "anonyrag-eng": 709, multihop.Textbooks: 1018, multihop.MuSiQue: 1000, multihop.HotpotQA: 1000, multihop.TwoWiki: 1000}
				check.True(t, r.Mode == mode && r.Questions == n[r.Domain] &&
					(r.Note != "") == (math.Abs(*r.AvgAccuracy-.3706) < 1e-9), "%+v", r)
				p.Rows[i].Questions, p.Rows[i].Mode, p.Rows[i].Note = 0, "", ""
			}
			rows, err := json.Marshal(p)
			if _, wrong := h.Write(rows); err != nil || wrong != nil {
				t.Fatal(err, wrong)
			}
		}
	}
	got := fmt.Sprintf("%x", h.Sum(nil))[:16]
	check.Equal(t, got, "7af3bfae4543a0d4", "the sum of the cells is %s, not that of the cells that were compared", got)
}

// A data set as the runner takes it, with the judge of its questions. For a folder on disk use os.DirFS(dir).
func Example() {
	folder := fstest.MapFS{
		"musique.json": {Data: []byte(`[{"id": "2hop__1_2", "question": "Who founded the town of the bridge?", "answer": "Ada Moss",
			"paragraphs": [{"title": "The bridge", "paragraph_text": "It stands in Elm.", "is_supporting": true},
			               {"title": "Elm", "paragraph_text": "Ada Moss founded it.", "is_supporting": true}]}]`)},
	}
	set, err := multihop.Load(folder, benchmark.LoadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	it := set.Domains[0].Items[0]
	j, err := short.New(short.Options{Schemes: multihop.Schemes()})
	fmt.Println(it.Type, it.Gold, set.Types[0].K, j.Name(), err)
	// Output: 2-hop [[000000] [000001]] 20 lexical/shortanswer/v3 <nil>
}
