// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// put writes files into a folder.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		check.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
		check.OK(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

// The folder's layout determines the data set; a multi-hop data set has its own number of chunks, its own
// judge, and longer rankings.
func TestMultiHop(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"Multi-hop QA (musique): 1 domain, 30 pages", "10 questions"}},
		{[]string{"-domains", "musique", "-k", "7", "-sweep", "5,9", "-v"}, []string{"2-hop", "k = 9"}},
	} {
		dir := t.TempDir()
		stdout, stderr, err := bench(t, bare, append(tt.args, "-data", "musique", "-systems", "bm25,zeroshot,youtu-nocommunity", "-mode", "reject", "-out", dir, "-no-timings")...)
		check.OK(t, err)
		for _, want := range tt.want {
			check.True(t, strings.Contains(stderr+stdout, want),
				"%v: no %q in\n%s%s", tt.args, want, stderr, stdout)
		}
		r := readReport(t, dir)
		if len(r.Systems) != 3 || r.Systems[1].NotApplicable == "" || r.Systems[2].Overall.Types["all"].N != 10 {
			t.Errorf("%v: %d systems, or zeroshot rejects, or not all is asked", tt.args, len(r.Systems))
		}
		check.Equal(t, r.Systems[0].Overall.Types["2-hop"].K, map[bool]int{true: 20, false: 7}[tt.args == nil], "%v: k", tt.args)
	}
}

// -index-only is refused if no system has a graph to describe; the error names one that has.
func TestIndexOnly(t *testing.T) {
	_, _, err := bench(t, bare, "-data", "sample", "-domains", "seafaring", "-out", t.TempDir(), "-index-only", "-systems", "bm25")
	check.Fails(t, err, "hipporag2", "no graph")
}

// Rules find the names of a plain text and group them before they are hidden; a text without names is refused
// with a remedy.
func TestAnonyRAGOfAText(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"whale.txt": "Captain Ahab sailed from Nantucket. Old Ahab spoke to Mr. Starbuck. Starbuck feared Ahab.", "none.txt": "it rained all day and then it was dark."})
	made := filepath.Join(dir, "made")
	out, _, err := bench(t, bare, "anonyrag", "-book", filepath.Join(dir, "whale.txt"), "-out", made)
	corpus, err2 := os.ReadFile(filepath.Join(made, "eng_corpus.json"))
	if errors.Join(err, err2) != nil || strings.Contains(string(corpus), "Ahab") || strings.Count(string(corpus), "[PERSON#1]") != 3 || strings.Count(string(corpus), "[PERSON#2]") != 2 {
		t.Errorf("%s\n%s, %v, %v", out, corpus, err, err2)
	}
	_, _, err = bench(t, bare, "anonyrag", "-book", filepath.Join(dir, "none.txt"), "-out", made)
	check.Fails(t, err, "a model (-model)")
}

// A benchmark made of books can be run, hidden and raw, from its own folder or its parent folder, and no
// passage contains a name.
func TestAnonyRAG(t *testing.T) {
	dir := t.TempDir()
	made := filepath.Join(dir, "anonyrag")
	out, _, err := bench(t, bare, "anonyrag", "-out", made, "-cache", filepath.Join(dir, "c"))
	check.Must(t, err == nil && strings.Contains(out, "20 questions;") && strings.Contains(out, "27 names hidden, none can be read"), "%v %v", err, out)
	for _, tt := range []struct{ data, domains string }{{made, ""}, {dir, "anonyrag"}, {filepath.Join(made, "raw"), ""}} {
		out := t.TempDir()
		args := []string{"-data", tt.data, "-systems", "bm25", "-out", out, "-no-timings"}
		if tt.domains != "" {
			args = append(args, "-domains", tt.domains)
		}
		_, _, err := bench(t, bare, args...)
		check.OK(t, err, "%+v", tt)
		r := readReport(t, out)
		d := r.Systems[0].Domains
		check.True(t, len(d) == 2 && d[1].Domain == "anonyrag-eng" && d[1].Types["all"].Verdicts().Accuracy != nil, "%+v: %+v", tt, d)
	}
	put(t, dir, map[string]string{"unasked.jsonl": `{"answer": "x"}`})
	for want, args := range map[string][]string{
		"-out is missing":              {},
		`want objects with the key`:    {"-out", dir, "-seeds", filepath.Join(dir, "unasked.jsonl")},
		"-generate -1: want 0 or more": {"-out", dir, "-generate", "-1"},
		"-generate needs -model":       {"-out", dir, "-generate", "6"},
		`-language "deu": want one of`: {"-out", dir, "-language", "deu"},
		"no such file":                 {"-out", dir, "-book", "none.json"},
	} {
		_, _, err := bench(t, bare, append([]string{"anonyrag"}, args...)...)
		check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), want), "%v: %v, want %q", args, err, want)
	}
}

// A plain text needs a model, which finds names and writes questions; questions that it answers without the
// book are left out.
func TestAnonyRAGByModel(t *testing.T) {
	reply := `{"questions": [{"question": "Who steered the Petrel for Ida Lund?", "options": ["Olaf Berg", "Ida Lund", "nobody", "a boy"], "answer": "A", "hops": 2, "passages": [1]},
		{"question": "Who owned the Petrel?", "answer": "Ida Lund.", "hops": 1, "passages": [1]},
		{"question": "Who knows?", "options": ["Olaf Berg", "the sea", "nobody", "a boy"], "answer": "C", "hops": 1, "passages": [1]}]}`
	serve(t, func(r llm.Request) llm.Reply {
		askedAs(t, r)
		switch first := r.Messages[0].Text; {
		case strings.Contains(first, "examination questions"):
			if !strings.Contains(r.Messages[1].Text, "[S2] Who directed the film of the elder sister?") {
				t.Errorf("the seeds are not shown: %s", r.Messages[1].Text)
			}
			return llm.Reply{Text: reply}
		case strings.Contains(first, `("entity"<|>`):
			return llm.Reply{Text: `("entity"<|>OLAF BERG<|>person<|>a sailor)##("entity"<|>Olaf Berg<|>person<|>a sailor)##("entity"<|>Ida Lund<|>person<|>an owner)##("entity"<|>Petrel<|>location<|>a ship)<|COMPLETE|>`}
		}
		return llm.Reply{Text: "C"}
	})
	dir := t.TempDir()
	text := filepath.Join(dir, "petrel.txt")
	put(t, dir, map[string]string{"petrel.txt": "Ida Lund owned the Petrel. Olaf Berg steered her across the bay in the great storm."})
	put(t, dir, map[string]string{"dev.json": `[{"_id": "1", "question": "Where was the founder born?"}, {"_id": "2", "question": "Who directed the film of the elder sister?"}]`})
	out, _, err := bench(t, bare, "anonyrag", "-book", text, "-model", "m", "-generate", "5", "-seeds", filepath.Join(dir, "dev.json"), "-out", filepath.Join(dir, "made"))
	if err != nil || !strings.Contains(out, "2 questions, 3 of them written by the model (0 more were not usable), 1 that the model answers without the book left out") {
		t.Fatal(err, out)
	}
	var qa []anonyrag.QA
	data, err := os.ReadFile(filepath.Join(dir, "made", "eng_qa.json"))
	check.Must(t, err == nil && json.Unmarshal(data, &qa) == nil && len(qa) == 2, "%v\n%s", err, data)
	check.True(t, !strings.Contains(qa[0].Question, "Petrel") && qa[1].Format == anonyrag.Reversion && qa[0].Made == anonyrag.MadeByModel, "%+v", qa)
}

// Combinations of flags that make no sense are refused.
func TestHopsUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"the folder has no hotpotqa":        {"-data", "musique", "-domains", "hotpotqa"},
		`unknown domain "squad"`:            {"-data", "musique", "-domains", "squad"},
		"joint does not judge":              {"-data", "musique", "-judge-profile", "joint", "-model", "m"},
		"shortanswer does not judge":        {"-judge-profile", "shortanswer"},
		"-judge-profile needs -judge-model": {"-data", "musique", "-judge-profile", "paper"},
	} {
		_, _, err := bench(t, bare, append(args, "-systems", "bm25", "-out", t.TempDir())...)
		check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), want), "%v: %v, want %q", args, err, want)
	}
}

// A small sample of each data set, with gold answers of every kind (yes and no, numbers, dates, a letter, Han),
// gives a complete table offline.
func TestEveryDataSet(t *testing.T) {
	hop := func(id, question, answer, kind string) string {
		return `{"_id": "` + id + `", "question": "` + question + `", "answer": "` + answer + `", "answer_id": "Q` + id + `", "type": "` + kind + `", "supporting_facts": [["Barn owl", 0], ["Hawk owl", 0]],
			"context": [["Barn owl", ["The barn owl hunts at night.", " It lays 5 eggs."]], ["Hawk owl", ["The hawk owl hunts by day, said Ann Lee in 1890."]]]}`
	}
	musique := func(id, answer string) string {
		return `{"id": "` + id + `", "question": "What is told of the owl of ` + id + `?", "answer": "` + answer + `", "answer_aliases": ["It"], "answerable": true, "question_decomposition": [{"id": 1}, {"id": 2}],
			"paragraphs": [{"title": "Owl", "paragraph_text": "The owl lays 5 eggs.", "is_supporting": true}, {"title": "Kent", "paragraph_text": "Kent counted 240 owls in 1987.", "is_supporting": true}]}`
	}
	novel := func(id, kind, answer string) string {
		return `{"id": "` + id + `", "source": "Moor", "question": "Where is the inn of ` + id + `?", "answer": "` + answer + `", "question_type": "` + kind + `", "evidence": ["It is in Kent."]}`
	}
	dir, out := t.TempDir(), t.TempDir()
	novels := novel("1", "Fact Retrieval", "No") + "," + novel("2", "Complex Reasoning", "Because Kent is far.") + "," + novel("3", "Contextual Summarize", "The inn is in Kent.") + "," + novel("4", "Creative Generation", "Dear diary, the inn is in Kent.")
	put(t, dir, map[string]string{
		"hotpotqa.json":                      "[" + hop("1", "Do both owls hunt by day?", "no", "comparison") + "," + hop("2", "Do both owls hunt?", "yes", "comparison") + "," + hop("3", "Who told of the owl that hunts by day?", "Ann Lee", "bridge") + "]",
		"2wiki/dev.json":                     "[" + hop("4", "Are both owls pale?", "no", "comparison") + "," + hop("5", "When was the owl told of?", "1890", "compositional") + "," + hop("6", "How many eggs?", "5", "inference") + "," + hop("7", "Which owl hunts by day?", "Hawk owl", "bridge_comparison") + "]",
		"2wiki/id_aliases.json":              `{"Q_id": "Q4", "aliases": ["No!"], "demonyms": []}`,
		"musique/musique_ans_v1.0_dev.jsonl": strings.ReplaceAll(musique("2hop__1_2", "5"), "\n", " ") + "\n" + strings.ReplaceAll(musique("3hop1__1_2_3", "1987"), "\n", " ") + "\n",
		"Questions/novel_questions.json":     "[" + novels + "]",
		"Corpus/novel.json":                  `[{"corpus_name": "Moor", "context": "The moor is in Kent. The inn is on the moor."}]`,
		"medical_questions.json":             "[" + strings.ReplaceAll(novels, "Moor", "Medical") + "]",
		"medical.json":                       `{"corpus_name": "Medical", "context": "Carcinoma is common. The inn is in Kent."}`,
		"books/Question/FB.jsonl":            `{"Question": "A heap is a ____.", "Answer": "tree"}`,
		"books/Question/MC.jsonl":            `{"Question": "What grows?", "Choices": {"A": "A tree", "B": "A stone"}, "Answer": "A"}`,
		"books/Question/MS.jsonl":            `{"Question": "Which are even?", "Choices": ["2", "3", "4"], "Answer": "AC"}`,
		"books/Question/TF.jsonl":            "{\"Question\": \"Two is even.\", \"Answer\": true}\n{\"Question\": \"Three is even.\", \"Answer\": false}\n",
		"books/Question/OE.jsonl":            `{"Question": "Why is a heap a tree?", "Answer": "0"}`,
		"books/Corpus/Heaps/Heaps.md":        "# Heaps\n\nA heap is a tree. Two is even, three is odd.",
	})
	_, stderr, err := bench(t, bare, multihop.AnonyRAG, "-out", filepath.Join(dir, multihop.AnonyRAG))
	check.OK(t, err, "%v\n%s", err, stderr)
	flags := []string{"-data", dir, "-judge-profile", "shortanswer", "-no-timings", "-out"}
	graphs := filepath.Join(out, "graphs") // of the English data set: rules find no names in Han
	for folder, more := range map[string][]string{out: {"-systems", "bm25,wild,raptor"}, graphs: {"-systems", "hipporag2,youtu", "-domains", strings.Join(multihop.Sets()[:6], ",")}} {
		_, stderr, err := bench(t, bare, append(append(slices.Clone(flags), folder), more...)...)
		check.OK(t, err, "%v\n%s", err, stderr)
	}
	for folder, domains := range map[string]int{out: 8, graphs: 6} {
		for _, s := range readReport(t, folder).Systems {
			check.True(t, len(s.NotCompared) <= 0 && len(s.Domains) == domains,
				"%s: %s over %d domains is not compared: %v", folder, s.System, len(s.Domains), s.NotCompared)
			for kind, of := range s.Overall.Types {
				if v := of.Verdicts(); v == nil || v.Accuracy == nil || v.Unscored > 0 {
					t.Errorf("%s: %s of %s has no accuracy, or not of all: %+v", folder, kind, s.System, v)
				}
			}
		}
	}
}

// Prompts are replaced for all systems or for one, by name; the models get the new texts, and the run and its
// report name them.
func TestPromptsAreReplaced(t *testing.T) {
	var mu sync.Mutex
	var told []string
	serve(t, func(req llm.Request) llm.Reply {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, req.Messages[0].Text)
		return baselinestest.Obedient(req)
	})
	dir, out := t.TempDir(), t.TempDir()
	const own = " Say \"{{.Words}}\" to Mr.Smith's question.\n\n问题 }}\n"
	put(t, dir, map[string]string{
		"all.txt":  `Take it apart, our way. {"sub_queries": [{"id": "q1", "text": "", "target": "triple"}]}`,
		"read.txt": `Answer {{if .Reject}}only {{end}}by what follows.`,
		"bad.txt":  `{{.Wrods}}`, "empty.txt": "\n",
		"own.txt": own,
	})
	file := func(name string) string { return filepath.Join(dir, name) }
	args := []string{"-data", "musique", "-limit", "1", "-systems", "youtu,naiverag", "-model", "m", "-out", out, "-no-timings",
		"-prompt", "agent/decompose=" + file("all.txt"), "-prompt", "naiverag:reader/read=" + file("read.txt")}
	stdout, _, err := bench(t, bare, args...)
	if !errors.Is(err, setup.ErrIncomplete) { // the model gives no usable verdicts
		t.Fatal(err)
	}
	count := func(beginning string) (n int) {
		for _, s := range told {
			if strings.HasPrefix(s, beginning) {
				n++
			}
		}
		return n
	}
	if count("Take it apart, our way.") == 0 || count("You plan how to look up") > 0 || count("Answer by what follows.") == 0 || count("You answer questions for people") == 0 {
		t.Errorf("what models were told begins with %q", told)
	}
	report := check.Of(os.ReadFile(filepath.Join(out, "report.md"))).OK(t)
	for _, text := range []string{stdout, string(report)} {
		if !regexp.MustCompile(`-prompt agent/decompose \([0-9a-f]{8}\), -prompt naiverag:reader/read \([0-9a-f]{8}\)`).MatchString(strings.Join(strings.Fields(text), " ")) {
			t.Errorf("the prompts are not named: %s", text)
		}
	}
	for _, bad := range []struct{ prompt, want string }{
		{"agent/decompose=" + file("bad.txt"), "there is no placeholder {{.Wrods}}; there are Data, Most, Nonce, Pieces, Schema"},
		{"agent/compose=" + file("all.txt"), "there is no prompt of this name; there are agent/aspects"},
		{"yuotu:agent/decompose=" + file("all.txt"), `there is no system "yuotu"`},
		{"agent/decompose=" + file("none.txt"), "none.txt"},
		{"judge/joint_fact=" + file("all.txt"), "cannot be replaced"},
		{file("empty.txt"), "want a UTF-8 text of 1 to"},
		{file("none.txt"), "none.txt"},
	} {
		_, _, err := bench(t, bare, append(slices.Clone(args[:10]), "-prompt", bad.prompt)...)
		check.Fails(t, err, bad.want, "-prompt %s", bad.prompt)
	}
	told = nil
	if _, _, err := bench(t, bare, append(slices.Clone(args[:10]), "-fresh", "-prompt", file("own.txt"))...); !errors.Is(err, setup.ErrIncomplete) || count(own) == 0 || count("You answer questions for people") > 0 || slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, own) && s != own }) {
		t.Errorf("%v: the instruction is not sent as it stands: %q", err, told)
	}
	_, _, err = bench(t, bare, "-data", "musique", "-prompt", "agent/decompose="+file("all.txt"))
	check.Fails(t, err, "needs -kit model")
}

// Every prompt that can be replaced describes its placeholders, and -show-prompts prints it.
func TestPromptsAreDocumented(t *testing.T) {
	shown, _, err := bench(t, bare, "-show-prompts")
	check.OK(t, err)
	comment := regexp.MustCompile(`(?s)^\{\{/\*.*?\*/ -\}\}`)
	place := regexp.MustCompile(`\.([A-Z]\w*)`)
	n := 0
	for _, p := range prompts.All() {
		check.Contains(t, shown, "=== "+p.Name+"\n"+p.Text, "%s is not shown", p.Name)
		if strings.HasPrefix(p.Name, "judge") || strings.HasPrefix(p.Name, "anonyrag/") || strings.HasPrefix(p.Name, "construct/") {
			continue
		}
		n++
		said := comment.FindString(p.Text)
		for _, action := range regexp.MustCompile(`(?s)\{\{[^/].*?\}\}`).FindAllString(p.Text[len(said):], -1) {
			for _, m := range place.FindAllStringSubmatch(action, -1) {
				if m[1] != "Nonce" && !regexp.MustCompile(`(?m)(^|\* )`+m[1]+`: \w`).MatchString(said) {
					t.Errorf("%s does not say what %s is", p.Name, m[1])
				}
			}
		}
	}
	check.True(t, n >= 35, "%d prompts", n)
}

// labelled is a line of testdata/reader.
type labelled struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Held   bool   `json:"held"`
	Answer string `json:"answer"`
	Judge  bool   `json:"judge"`
	Label  string `json:"label"`
	// Of are the texts over which the answer was given.
	Of []string `json:"of"`
}

func readLabels(t *testing.T, name string) []labelled {
	t.Helper()
	var out []labelled
	f := check.Of(os.Open("testdata/reader/" + name)).OK(t)
	defer f.Close()
	for l, err := range journal.ReadLines[labelled](f, journal.LineOptions{}) {
		check.OK(t, err)
		out = append(out, l.Value)
	}
	return out
}

// The labels have the numbers in docs/offline.md, and the offline reader still gives the same answers.
func TestReaderLabels(t *testing.T) {
	held := make(map[string]bool)
	for _, x := range readLabels(t, "drawn.jsonl") {
		held[x.ID] = x.Held
	}
	type count struct{ asked, right, held int }
	got, answers := make(map[string]count), make(map[string]labelled)
	blind := readLabels(t, "blind.jsonl")
	for _, x := range blind {
		_, ok := held[x.ID]
		check.Must(t, ok && slices.Contains([]string{"right", "partly", "wrong", "refused"}, x.Label), "%s is not drawn, or labelled %q", x.ID, x.Label)
		for _, of := range x.Of {
			c := got[of]
			c.asked++
			if x.Label == "right" {
				c.right++
				if held[x.ID] {
					c.held++
				}
			}
			got[of] = c
			if of == "calibrated" {
				answers[x.ID] = x
			}
		}
	}
	if want := map[string]count{
		"after": {126, 46, 14}, "bm25": {126, 46, 14}, "bm25, encoder": {126, 46, 13}, "wild": {125, 43, 14}, "wild, encoder": {125, 49, 18}, "calibrated": {126, 47, 14},
	}; !maps.Equal(got, want) {
		t.Errorf("right: %v, want %v", got, want)
	}
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	set := check.Of(wildgraph.Load(os.DirFS(dir), benchmark.LoadOptions{})).OK(t)
	other := maps.Clone(answers)
	for _, d := range set.Domains {
		parts := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
		system := check.Of(flat.NewBM25(parts, flat.BM25Options{})).OK(t)
		check.OK(t, check.Err(system.Index(t.Context(), d.Documents())))
		for _, it := range d.Items {
			x, ok := answers[it.Question.ID]
			if !ok {
				continue
			}
			q, form := it.Question, slices.IndexFunc(set.Types, func(ty benchmark.Type) bool { return ty.Key == it.Type })
			q.Form, q.K = set.Types[form].Form, set.Types[form].K
			a := check.Of(system.Answer(t.Context(), q)).OK(t)
			if a.Text == x.Answer {
				delete(other, x.ID)
			}
		}
	}
	if n := len(other); n > 6 { // at most one in twenty
		t.Errorf("%d of %d answers are others: label them again", n, len(answers))
	}
}
