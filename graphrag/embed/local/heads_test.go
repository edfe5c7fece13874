// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// tinyHeads are the heads of the tiny model, by folder.
var tinyHeadsOf = map[string]struct {
	architecture string
	labels       []string
}{
	"rank":   {"BertForSequenceClassification", []string{"LABEL_0"}},
	"entail": {"BertForSequenceClassification", []string{"contradiction", "Entailment", "neutral"}},
	"spans":  {"BertForQuestionAnswering", []string{"LABEL_0", "LABEL_1"}},
	"names":  {"BertForTokenClassification", []string{"O", "B-PER", "I-PER", "I-ORG"}},
}

// tinyHead writes the tiny model with a head.
func tinyHead(t testing.TB, dir, name string) string {
	t.Helper()
	h := tinyHeadsOf[name]
	check.OK(t, embedtest.WriteHead(dir, h.architecture, h.labels...))
	return dir
}

// golden is testdata/heads.json, made by testdata/heads.py.
type golden struct {
	Questions, Passages []string
	Rank, Entail        [][][]float64 // question, passage, label
	Spans               [][][]float64 // question, passage: score, start, end
	Names               [][][]any     // passage, name: kind, score, start, end
}

func TestHeadsAreThoseOfPyTorch(t *testing.T) {
	folder := os.Getenv("WILDGRAPH_HEADS") // where heads.py finds the models
	if folder == "" {
		folder = t.TempDir()
	}
	for name := range tinyHeadsOf {
		tinyHead(t, filepath.Join(folder, name), name)
	}
	if os.Getenv("WILDGRAPH_HEADS") != "" {
		t.Skip("the models are written: run heads.py")
	}
	b := check.Of(os.ReadFile("testdata/heads.json")).OK(t)
	var want golden
	check.OK(t, json.Unmarshal(b, &want))
	reranker, err1 := OpenReranker(filepath.Join(folder, "rank"), Options{})
	entailment, err2 := OpenEntailment(filepath.Join(folder, "entail"), Options{})
	spans, err3 := OpenSpans(filepath.Join(folder, "spans"), Options{})
	names, err4 := OpenNames(filepath.Join(folder, "names"), Options{})
	check.OK(t, errors.Join(err1, err2, err3, err4))
	near := func(a, b float64) bool { return math.Abs(a-b) < 2e-5 }
	for i, q := range want.Questions {
		scores, err1 := reranker.Scores(t.Context(), q, want.Passages)
		entailed, err2 := entailment.Entail(t.Context(), q, want.Passages)
		found, err3 := spans.Find(t.Context(), q, want.Passages)
		check.OK(t, errors.Join(err1, err2, err3))
		for j, p := range want.Passages {
			if !near(scores[j], want.Rank[i][j][0]) {
				t.Errorf("%.20q, %.20q: score %v, want %v", q, p, scores[j], want.Rank[i][j][0])
			}
			l := want.Entail[i][j]
			softmax64(l)
			if got := entailed[j]; !near(got.Contradicts, l[0]) || !near(got.Entails, l[1]) {
				t.Errorf("%.20q, %.20q: %v, want %v", q, p, got, l)
			}
			if s := want.Spans[i][j]; s == nil {
				if found[j] != (text.Match{Score: math.Inf(-1)}) {
					t.Errorf("a passage without words: %v", found[j])
				}
			} else if got := found[j]; !near(got.Score, s[0]) || got.Start != int(s[1]) || got.End != int(s[2]) {
				t.Errorf("%.20q, %.20q: span %v, want %v", q, p, got, s)
			}
		}
	}
	tagged := check.Of(names.Find(t.Context(), want.Passages)).OK(t)
	compared := 0
	for i, p := range want.Passages {
		if want.Names[i] == nil {
			continue
		}
		compared += len(want.Names[i])
		check.True(t, slices.EqualFunc(tagged[i], want.Names[i], func(got text.Match, w []any) bool {
			return got.Kind == w[0] && near(got.Score, w[1].(float64)) && got.Start == int(w[2].(float64)) && got.End == int(w[3].(float64))
		}), "%.20q: names %v, want %v", p, tagged[i], want.Names[i])
	}
	check.True(t, compared >= 5, "%d names compared", compared)
}

// Words that are located have the tokens of the text as a whole, in order.
func FuzzLocate(f *testing.F) {
	for _, s := range sentences {
		f.Add(s)
	}
	f.Add("a[SEP]b [CLS]c d\u00ade \xff'dog'\u037e ≠\u0338 İowl\u200bowl")
	e := mustOpen(f, tiny(f))
	f.Fuzz(func(t *testing.T, text string) {
		whole := e.words.tokens(nil, text, 1<<20, new(letterReader))
		l := e.words.(*wordPiece).locate(text, new(letterReader))
		check.Must(t, slices.Equal(l.ids, whole[1:len(whole)-1]) && len(l.of) == len(l.ids), "%q: tokens %v, want %v", text, l.ids, whole)
		end := 0
		for _, w := range l.words {
			check.Must(t, w[0] >= end && w[1] > w[0] && w[1] <= len(text), "%q: words at %v", text, l.words)
			end = w[1]
		}
		check.Must(t, slices.IsSorted(l.of), "%q: tokens are of the words %v", text, l.of)
	})
}

// A long text is read to its end, and a word that no window holds is cut.
func TestNamesOfALongText(t *testing.T) {
	names, err := OpenNames(tinyHead(t, t.TempDir(), "names"), Options{})
	check.OK(t, err)
	short := "owl barn dog "
	want := check.Of(names.Find(t.Context(), []string{short})).OK(t)
	l := names.pieces.locate(strings.Repeat(short, 100)+strings.Repeat("ab", 49), new(letterReader))
	for from := 0; from < len(l.ids); {
		to := l.cut(from, 50)
		if to <= from || to < len(l.ids) && l.of[to-1] == l.of[to] && l.of[from] != l.of[to] {
			t.Fatalf("a window from %d to %d parts a word", from, to)
		}
		from = to
	}
	got, err := names.Find(t.Context(), []string{strings.Repeat(short, 100), short})
	check.True(t, err == nil && slices.Equal(got[1], want[0]), "names %v beside another text, want %v (error %v)", got[1], want[0], err)
	last := got[0][len(got[0])-1]
	check.True(t, last.End >= 99*len(short), "the last name ends at %d", last.End)
}

func TestHostileHeads(t *testing.T) {
	for _, tt := range []struct {
		name, head string
		change     func(dir string) error
		want       string
	}{
		{"an encoder", "rank", replace(configFile, "BertForSequenceClassification", "BertModel"), `architectures is ["BertModel"]: use a BertForSequenceClassification`},
		{"three labels", "rank", replace(configFile, `"id2label":{`, `"id2label":{"1":"b","2":"c",`), "want one"},
		{"one label", "entail", replace(configFile, `"neutral"`, `"other"`), "want entailment, neutral and contradiction"},
		{"numbers", "entail", replace(configFile, `"id2label":{"0"`, `"id2label":{"7"`), "id2label has 3 entries"},
		{"no head", "spans", replace(weightsFile, "qa_outputs.weight", "qa_outputx.weight"), `tensor "qa_outputs.weight" is missing`},
		{"another shape", "names", replace(configFile, `"3":"I-ORG"`, `"3":"I-ORG","4":"I-X"`), `tensor "classifier.weight" has the shape [4 64], config.json wants [5 64]`},
		{"letters", "names", replace(configFile, `"I-ORG"`, `"ORG"`), `it has the label "ORG"`},
	} {
		dir := tinyHead(t, t.TempDir(), tt.head)
		check.OK(t, tt.change(dir))
		var err error
		switch tt.head {
		case "rank":
			_, err = OpenReranker(dir, Options{})
		case "entail":
			_, err = OpenEntailment(dir, Options{})
		case "spans":
			_, err = OpenSpans(dir, Options{})
		case "names":
			_, err = OpenNames(dir, Options{})
		}
		check.Fails(t, err, tt.want, "%s", tt.name)
	}
}
