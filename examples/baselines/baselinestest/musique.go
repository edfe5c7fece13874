// SPDX-License-Identifier: Apache-2.0

// Package baselinestest tests systems against the figures of their papers and against common rules.
package baselinestest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// MuSiQue is HippoRAG's sample of MuSiQue's training set: 100 questions over
// 1,890 passages, with the triples that gpt-3.5-turbo-1106 extracted.
type MuSiQue struct {
	Docs    []graphrag.Document
	Items   []benchmark.Item
	Triples Passages
}

// LoadMuSiQue reads the sample from the folder $MUSIQUE_DIR. Without it, or with -short, it skips the test.
func LoadMuSiQue(t testing.TB) *MuSiQue {
	t.Helper()
	dir := os.Getenv("MUSIQUE_DIR")
	if dir == "" || testing.Short() {
		t.Skip("set MUSIQUE_DIR, without -short")
	}
	set, err := multihop.Load(os.DirFS(dir), benchmark.LoadOptions{Domains: []string{multihop.MuSiQue}})
	check.OK(t, err)
	m := &MuSiQue{Items: set.Domains[0].Items}
	for d, err := range set.Domains[0].Documents() {
		check.OK(t, err)
		m.Docs = append(m.Docs, d)
	}
	if m.Triples = readPassages(t, filepath.Join(dir, "openie_results_ner_gpt-3.5-turbo-1106.json")); len(m.Triples) != 1890 {
		t.Fatalf("triples of %d passages, want 1890", len(m.Triples))
	}
	return m
}

// Passages is an extractor that returns recorded names and triples, by the title and text of a passage.
type Passages map[string]kg.Extraction

// readPassages reads a result file of HippoRAG. Lists that are not triples are left out.
func readPassages(t testing.TB, name string) Passages {
	var file struct {
		Docs []struct {
			Passage  string
			Entities []string   `json:"extracted_entities"`
			Triples  [][]string `json:"extracted_triples"`
		}
	}
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(bytes.ReplaceAll(data, []byte(": NaN"), []byte(": null")), &file) // Python's NaN is no JSON
	}
	check.OK(t, err)
	out := make(Passages)
	for _, d := range file.Docs {
		var x kg.Extraction
		for _, n := range d.Entities {
			x.Mentions = append(x.Mentions, kg.Mention{Name: n})
		}
		for _, f := range d.Triples {
			if len(f) == 3 && f[0] != "" && f[2] != "" {
				x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: f[0], Relation: f[1], Tail: f[2]}})
			}
		}
		out[strings.Join(strings.Fields(d.Passage), " ")] = x
	}
	return out
}

// Extract implements extract.Extractor.
func (r Passages) Extract(_ context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		x, ok := r[strings.Join(strings.Fields(c.Title+"\n"+c.Text), " ")]
		if !ok {
			return nil, fmt.Errorf("no triples are recorded for chunk %s", c.ID)
		}
		x.Chunk, x.Doc = c.ID, c.Doc
		x.Mentions = slices.Clone(x.Mentions)
		for _, f := range x.Facts { // the two ends of every fact count as names
			for _, n := range []string{f.Head, f.Tail} {
				if !slices.ContainsFunc(x.Mentions, func(m kg.Mention) bool { return m.Name == n }) {
					x.Mentions = append(x.Mentions, kg.Mention{Name: n})
				}
			}
		}
		out[i] = x
	}
	return out, nil
}

// Recall has figures by depth k, in percent: At is the mean share of gold passages among the first k, All the
// share of questions with all gold passages among them, Each the share for each question.
type Recall struct {
	At   map[int]float64
	All  map[int]float64
	Each map[int][]float64
}

// Ks lists the depths of a [Recall].
var Ks = []int{1, 2, 5, 10, 20}

// Measure indexes the passages and asks all questions.
func (m *MuSiQue) Measure(t testing.TB, s graphrag.System) Recall {
	t.Helper()
	if _, err := s.Index(t.Context(), graphrag.Documents(m.Docs...)); err != nil {
		t.Fatal(err)
	}
	r := Recall{map[int]float64{}, map[int]float64{}, map[int][]float64{}}
	for _, it := range m.Items {
		a, err := s.Answer(t.Context(), graphrag.Question{Text: it.Question.Text, K: 5, Depth: 20})
		check.OK(t, err)
		docs := make([]string, len(a.Ranked))
		for i, h := range a.Ranked {
			docs[i] = h.Chunk.Doc
		}
		for _, k := range Ks {
			share := 100 * it.Recall(docs[:min(k, len(docs))])
			r.Each[k] = append(r.Each[k], share)
			r.At[k] += share / float64(len(m.Items))
			if share == 100 {
				r.All[k] += 100 / float64(len(m.Items))
			}
		}
	}
	return r
}

// Index indexes documents. An error ends the test.
func Index(t testing.TB, s *kit.System, docs ...graphrag.Document) {
	t.Helper()
	var seq iter.Seq2[graphrag.Document, error] // nil if there are no documents
	if len(docs) > 0 {
		seq = graphrag.Documents(docs...)
	}
	_, err := s.Index(t.Context(), seq)
	check.OK(t, err)
}

// ModelKit returns the kit of a model, with an embedder that finds texts similar if they share words.
func ModelKit(t testing.TB, m llm.Model) kit.Kit {
	t.Helper()
	k, err := kit.ByModel(kit.ModelOptions{Model: m, Embedder: sharedWords})
	check.OK(t, err)
	return k
}

// Filled returns options with the defaults of their tags.
func Filled[O any](o O) O {
	new(kit.Checks).Fill(&o)
	return o
}

// sharedWords is an embedder whose vectors count the words of a text.
var sharedWords = embed.Func(func(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = llmtest.HashVector(strings.ToLower(t), 256)
	}
	return out, ctx.Err()
})

// Alike implements retrieve.Texts with similarities that are the same for every query.
type Alike []float64

// Len implements retrieve.Texts.
func (a Alike) Len() int { return len(a) }

// Best implements retrieve.Texts.
func (a Alike) Best(ctx context.Context, _ string, k int) ([]rank.Scored[int32], error) {
	var all []rank.Scored[int32]
	for i, score := range a {
		if score > 0 {
			all = append(all, rank.Scored[int32]{ID: int32(i), Score: score})
		}
	}
	return rank.Best(all, k), ctx.Err()
}

// Scores implements retrieve.Texts.
func (a Alike) Scores(ctx context.Context, _ string, dst []float64) ([]float64, error) {
	return append(dst[:0], a...), ctx.Err()
}

// Stages counts the requests of a script by stage.
func Stages(s *llmtest.Script) map[string]int {
	out := make(map[string]int)
	for _, r := range s.Requests() {
		out[r.Stage]++
	}
	return out
}

// Pages is a small corpus whose pages share names.
var Pages = []graphrag.Document{
	{ID: "amundsen.md", Title: "Roald Amundsen", Text: "# Roald Amundsen\n\nRoald Amundsen was a Norwegian explorer. Amundsen sailed on the Fram to Antarctica. Roald Amundsen reached the South Pole in 1911."},
	{ID: "fram.md", Title: "Fram", Text: "# Fram\n\nThe Fram was built by Colin Archer. Colin Archer built the ship in Larvik for Fridtjof Nansen. Fridtjof Nansen sailed on the Fram in 1893."},
	{ID: "larvik.md", Title: "Larvik", Text: "# Larvik\n\nLarvik is a town in Norway. Colin Archer was born in Larvik. The shipyard of Colin Archer stood in Larvik."},
	{ID: "scott.md", Title: "Robert Scott", Text: "# Robert Scott\n\nRobert Scott reached the South Pole in 1912. Robert Scott sailed on the Terra Nova to Antarctica."},
	{ID: "tides.md", Title: "Tides", Text: "# Tides\n\nThe moon raises the tides of the sea. The tides rise and fall twice a day."},
}

// Chinese is a corpus without a Latin letter.
var Chinese = []graphrag.Document{
	{ID: "a.md", Title: "北京", Text: "北京是中华人民共和国的首都。故宫位于北京市中心。"},
	{ID: "b.md", Title: "上海", Text: "上海是中国最大的城市。外滩位于上海。"},
}

// Questions ask about the texts of Pages, partly in unusual forms.
var Questions = []graphrag.Question{
	{Text: "Where was the builder of the Fram born?", K: 2, Depth: 5, Form: graphrag.Sentence},
	{Text: "Who reached the South Pole in 1911?", K: 1, Depth: 5, Form: graphrag.Sentence},
	{Text: "What do the pages say about Antarctica?", K: 3, Depth: 5, Form: graphrag.Overview},
	{Text: "why is it so", K: 2, Depth: 3},
	{Text: "", K: 2},
	{Text: "Fram", K: -1},
	{Text: "Fram", K: 1000, Depth: 1000},
	{Text: "故宫在哪里？", K: 2},
}

// OfflineKit returns the offline kit.
func OfflineKit(t testing.TB) kit.Kit {
	t.Helper()
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	check.OK(t, err)
	return k
}

// Obedient is a model that follows the prompts of all systems. From every text it extracts two entities
// that no other text has, and one relation between them, so that the number of calls depends only on the
// numbers of chunks and questions.
func Obedient(req llm.Request) llm.Reply {
	var whole strings.Builder
	for _, m := range req.Messages {
		whole.WriteString(m.Text)
	}
	prompt := whole.String()
	text := req.Messages[len(req.Messages)-1].Text
	if len(req.Messages) > 2 && req.Messages[1].Role == llm.User { // the conversation is about the first text
		text = req.Messages[1].Text
	}
	if strings.Contains(req.Messages[0].Text, `{"thought": "", "answer": "", "ids": [`) {
		return llm.Reply{Text: turn(req)}
	}
	if strings.Contains(prompt, `{"communities": [{"id": 0`) {
		return named(text)
	}
	for _, as := range []struct{ marker, reply string }{
		{`{"Nodes": [], "Relations": [], "Attributes": []}`, `{"Nodes": ["event"], "Relations": ["goes_with"], "Attributes": []}`},
		{`"entity_types": {"entity": "type"}`, `{"attributes": {}, "triples": [["AAA", "goes_with", "BBB"]], "entity_types": {"AAA": "event", "BBB": "event"}}`},
		{`{"sub_queries": [{"id": "q1", "text": ""`, `{"sub_queries": []}`},
		{`{"aspects": ["`, `{"aspects": ["AAA"]}`},
		{`{"thought": "", "status": "answer"`, `{"thought": "It is all there.", "status": "answer", "next_query": ""}`},
		{`{"answerable": false`, `{"answerable": true, "missing": "", "next_question": ""}`},
		{`{"keep": [`, `{"keep": [1, 2, 3]}`},
		{`{"triples": [`, `{"triples": [["AAA", "went to sea with the first ship of", "BBB"]]}`},
		{`{"named_entities": [`, `{"named_entities": ["AAA", "BBB"]}`},
		{`{"fact": [[`, `{"fact": []}`},
		{`{"high_level_keywords": []`, `{"high_level_keywords": ["going", "sea"], "low_level_keywords": ["sea"]}`},
		{`{"named": [], "generic": []}`, `{"named": ["AAA"], "generic": ["sea"]}`},
		{`("entity"<|>`, `("entity"<|>AAA<|>event<|>AAA is a thing of the sea.)##("entity"<|>BBB<|>event<|>BBB is a thing of the sea.)##("relationship"<|>AAA<|>BBB<|>AAA goes with BBB.<|>5)<|COMPLETE|>`},
		{`entity<|#|>`, "entity<|#|>AAA<|#|>Event<|#|>AAA is a thing of the sea.\nentity<|#|>BBB<|#|>Event<|#|>BBB is a thing of the sea.\nrelation<|#|>AAA<|#|>BBB<|#|>going<|#|>AAA goes with BBB.\n<|COMPLETE|>"},
		{`"other_relationships": [`, `{"entities": [{"name": "AAA", "type": "event", "desc": "AAA is a thing of the sea."}, {"name": "BBB", "type": "event", "desc": "BBB is a thing of the sea."}], "relationships": [{"source": "AAA", "target": "BBB", "desc": "AAA goes with BBB."}]}`},
		{`"rating_explanation": ""`, `{"title": "AAA", "summary": "AAA goes with BBB.", "rating": 5, "rating_explanation": "It is as good as another.", "findings": [{"summary": "They go together.", "explanation": "AAA goes with BBB."}]}`},
		{`{"points": [{`, `{"points": [{"description": "AAA goes with BBB.", "score": 50}]}`},
		{`"intermediate_answer": "`, `{"intermediate_answer": "AAA goes with BBB.", "score": 50, "follow_up_queries": ["Where does AAA go?"]}`},
		{`{"response": "`, `{"response": "AAA goes to sea.", "score": 50, "follow_up_queries": []}`},
		{`{"reason": "", "rating": 0}`, `{"reason": "It touches the subject.", "rating": 3}`},
	} {
		if strings.Contains(prompt, as.marker) {
			sum := sha256.Sum256([]byte(text))
			name := strings.ToUpper(strings.Map(letters, hex.EncodeToString(sum[:8])))
			word := " " + longest(text) // a name must occur in the passage
			return llm.Reply{Text: strings.NewReplacer("AAA", name[:8]+word, "BBB", name[8:]+word).Replace(as.reply)}
		}
	}
	return llm.Reply{Text: "An answer [1]."}
}

var groupID = regexp.MustCompile(`(?m)^id: (\d+)$`)

// named gives each group a different name.
func named(groups string) llm.Reply {
	var names []string
	for _, id := range groupID.FindAllStringSubmatch(groups, -1) {
		names = append(names, fmt.Sprintf(`{"id": %[1]s, "name": "Group %[1]s", "summary": "Things that go together."}`, id[1]))
	}
	return llm.Reply{Text: `{"communities": [` + strings.Join(names, ", ") + `]}`}
}

// longest returns the longest word in the first fenced text of a prompt, the first of several.
func longest(prompt string) (word string) {
	_, text, _ := strings.Cut(prompt, "\n")
	text, _, _ = strings.Cut(text, "\n[/")
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) > len(word) {
			word = w
		}
	}
	return word
}

// letters maps digits to letters, since some systems do not accept names with digits.
func letters(r rune) rune {
	if r >= '0' && r <= '9' {
		return 'g' + r - '0'
	}
	return r
}

// turn returns the reply of an agent: first it searches for the question, or finds its longest word, then
// it answers with the first two passages.
func turn(req llm.Request) string {
	if len(req.Messages) > 2 {
		return `{"thought": "It is all there.", "answer": "So it is.", "ids": [1, 2]}`
	}
	lines := strings.Split(req.Messages[1].Text, "\n")
	question := strings.Join(lines[1:len(lines)-1], " ")
	call := map[string]string{"tool": "search", "query": question}
	if !strings.Contains(req.Messages[0].Text, `"tool": "search"`) {
		call = map[string]string{"tool": "find", "pattern": longest(req.Messages[1].Text)}
	}
	reply, err := json.Marshal(map[string]any{"thought": "", "calls": []any{call}})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return string(reply)
}
