// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// unigramGolden is testdata/unigram.json, made by testdata/unigram.py.
type unigramGolden struct {
	Tokenizer map[string]any
	Texts     []string
	Variants  []struct {
		Change map[string]any
		Bytes  bool
		IDs    [][]int32
	}
	Vectors map[int][]float64
}

func readUnigram(t testing.TB) (g unigramGolden) {
	t.Helper()
	b, err := os.ReadFile("testdata/unigram.json")
	if err == nil {
		err = json.Unmarshal(b, &g)
	}
	check.OK(t, err)
	return g
}

// file returns a tokenizer.json with changes, and if wanted with pieces for all bytes.
func (g unigramGolden) file(t testing.TB, change map[string]any, inBytes bool) []byte {
	t.Helper()
	f := maps.Clone(g.Tokenizer)
	maps.Copy(f, change)
	if inBytes {
		model := maps.Clone(f["model"].(map[string]any))
		vocab := slices.Clone(model["vocab"].([]any))
		for c := range 256 {
			vocab = append(vocab, []any{fmt.Sprintf("<0x%02X>", c), -20})
		}
		model["byte_fallback"], model["vocab"], f["model"] = true, vocab, model
	}
	return check.Of(json.Marshal(f)).OK(t)
}

// The token numbers are those of the library tokenizers.
func TestUnigram(t *testing.T) {
	g := readUnigram(t)
	for _, v := range g.Variants {
		u := check.Of(parseUnigram(g.file(t, v.Change, v.Bytes), 2000)).OK(t)
		for i, text := range g.Texts {
			if got := u.tokens(nil, text, 2000, nil); !slices.Equal(got, v.IDs[i]) {
				t.Errorf("%v: %.60q:\n got %v\nwant %v", slices.Collect(maps.Keys(v.Change)), text, got, v.IDs[i])
			}
			for _, limit := range []int{2, 3, 9} {
				want := slices.Clone(v.IDs[i])
				if len(want) > limit {
					want = append(want[:limit-1], u.end)
				}
				if got := u.tokens([]int32{7}, text, limit, nil); !slices.Equal(got[1:], want) {
					t.Errorf("%.60q, %d tokens: %v, want %v", text, limit, got[1:], want)
				}
			}
		}
	}
}

// writeXLMR writes a small XLM-R with random weights and the vocabulary of unigram.json.
func writeXLMR(t testing.TB, dir string) {
	t.Helper()
	g := readUnigram(t)
	arrays, pieces := map[string]array{}, len(g.Tokenizer["model"].(map[string]any)["vocab"].([]any))
	for name, a := range tinyWeights(t) {
		switch name {
		case "embeddings.word_embeddings.weight":
			rows := a.shape[0]
			for len(a.values) < pieces*tinyHidden { // no two weights are equal
				i := len(a.values) / tinyHidden
				for j := range tinyHidden {
					a.values = append(a.values, a.values[i%rows*tinyHidden+(i/rows+j)%tinyHidden])
				}
			}
			a.shape = []int{pieces, tinyHidden}
		case "embeddings.token_type_embeddings.weight":
			a.shape, a.values = []int{1, tinyHidden}, a.values[:tinyHidden]
		}
		arrays["roberta."+name] = a
	}
	config := fmt.Sprintf(`{"model_type": "xlm-roberta", "hidden_size": %d, "num_hidden_layers": %d, "num_attention_heads": %d, "intermediate_size": 96,
		"vocab_size": %d, "max_position_embeddings": 120, "type_vocab_size": 1, "layer_norm_eps": 1e-5, "pad_token_id": 1}`, tinyHidden, tinyLayers, tinyHeads, pieces)
	check.OK(t, os.MkdirAll(dir, 0o755))
	for name, b := range map[string][]byte{configFile: []byte(config), tokenizerFile: g.file(t, nil, false), weightsFile: encodeTensors(arrays, "F32")} {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
	}
}

// The vectors are those of PyTorch: positions begin after the number of the padding token.
func TestUnigramModel(t *testing.T) {
	dir := os.Getenv("WILDGRAPH_UNIGRAM") // folder in which unigram.py looks for the model
	if dir != "" {
		writeXLMR(t, dir)
		t.Skip("the model is written: run unigram.py")
	}
	dir = t.TempDir()
	writeXLMR(t, dir)
	e, g := mustOpen(t, dir), readUnigram(t)
	check.Must(t, len(g.Vectors) != 0, "unigram.json has no vectors")
	for i, want := range g.Vectors {
		rows := check.Of(e.EmbedDocuments(t.Context(), g.Texts[i:i+1])).OK(t)
		for j, x := range rows[0] {
			if math.Abs(float64(x)-want[j]) > 2e-5 {
				t.Errorf("%.40q: component %d is %v, PyTorch's %v", g.Texts[i], j, x, want[j])
				break
			}
		}
	}
	got := len(e.words.tokens(nil, strings.Repeat("a b ", 200), e.net.tokens, nil))
	check.Equal(t, got, 118, "a long text has %d tokens, want the 120 places but two", got)
	eight, err := Open(dir, Options{Int8: true})
	check.OK(t, err)
	_, err = eight.EmbedQuery(t.Context(), g.Texts[3])
	check.OK(t, err)
	check.True(t, check.Err(OpenReranker(dir, Options{})) != nil, "a head is read from a folder without one")
}

// A setting that the tokenizer cannot follow is refused, and the part of the file with it is named.
func TestUnigramRefuses(t *testing.T) {
	g := readUnigram(t)
	model := func(key string, value any) map[string]any {
		m := maps.Clone(g.Tokenizer["model"].(map[string]any))
		m[key] = value
		return map[string]any{"model": m}
	}
	object := func(s string) (out map[string]any) {
		check.OK(t, json.Unmarshal([]byte(s), &out))
		return out
	}
	for _, tt := range []struct {
		change map[string]any
		want   string
	}{
		{object(`{"normalizer": {"type": "StripAccents"}}`), `normalizer has "StripAccents"`},
		{object(`{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "////"}}`), "damaged"},
		{object(`{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////wAA"}}`), "damaged"},
		{object(`{"pre_tokenizer": {"type": "ByteLevel"}}`), "pre_tokenizer is not a Metaspace"},
		{object(`{"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}}`), "pre_tokenizer is not a Metaspace"},
		{object(`{"pre_tokenizer": null}`), "pre_tokenizer is not a Metaspace"},
		{object(`{"post_processor": null}`), "post_processor is not"},
		{object(`{"added_tokens": [{"id": 9000, "content": "<s>", "special": true}]}`), `added token "<s>", number 9000`},
		{object(`{"added_tokens": [{"id": 5, "content": "", "special": true}]}`), `added token ""`},
		{model("vocab", []any{}), "has 0 pieces"},
		{model("vocab", []any{[]any{strings.Repeat("a", 300), 0}}), "piece 0 has 300 bytes"},
		{model("vocab", []any{[]any{1, "a"}}), "cannot unmarshal"},
		{model("unk_id", 752), "unk_id is 752"},
		{model("unk_id", nil), "unk_id is missing"},
		{model("byte_fallback", true), "no piece <0x00>"},
	} {
		if _, err := parseUnigram(g.file(t, tt.change, false), 1000); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", slices.Collect(maps.Keys(tt.change)), err, tt.want)
		}
	}
	check.Fails(t, check.Err(parseUnigram(g.file(t, nil, false), 700)), "vocab_size", "more pieces than the model has")
}

// No file and no text causes a panic, and token numbers are within the vocabulary.
func FuzzUnigram(f *testing.F) {
	g := readUnigram(f)
	u := check.Of(parseUnigram(g.file(f, nil, false), 752)).OK(f)
	for _, text := range g.Texts {
		f.Add(text, []byte(nil))
	}
	f.Add("a\xffb\u0301", []byte{8, 0, 0, 0, 0, 4, 0, 0, 255, 1, 0, 128, 'x', 0})
	f.Fuzz(func(t *testing.T, text string, table []byte) {
		with := *u
		if m, err := newCharsMap(table); err == nil {
			with.normalize = append(slices.Clone(u.normalize), m.normalize)
		}
		for _, u := range []*unigram{u, &with} {
			ids := u.tokens(nil, text, 50, nil)
			check.True(t, len(ids) >= 2 && len(ids) <= 50 && slices.Min(ids) >= 0 && slices.Max(ids) < 752, "%q: %v", text, ids)
		}
	})
}

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
	check.OK(t, graphragtest.WriteHead(dir, h.architecture, h.labels...))
	return dir
}

// golden is testdata/heads.json, made by testdata/heads.py.
type golden struct {
	Questions, Passages []string
	Rank, Entail        [][][]float64 // by question, passage and label
	Spans               [][][]float64 // by question and passage: score, start, end
	Names               [][][]any     // by passage and name: kind, score, start, end
}

func TestHeadsAreThoseOfPyTorch(t *testing.T) {
	folder := os.Getenv("WILDGRAPH_HEADS") // folder in which heads.py looks for the models
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
				check.True(t, found[j] == (text.Match{Score: math.Inf(-1)}), "a passage without words: %v", found[j])
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

// The tokens of words with positions are the tokens of the whole text, in order.
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

// A long text is read to its end, and a word longer than any window is cut.
func TestNamesOfALongText(t *testing.T) {
	names := check.Of(OpenNames(tinyHead(t, t.TempDir(), "names"), Options{})).OK(t)
	short := "owl barn dog "
	want := check.Of(names.Find(t.Context(), []string{short})).OK(t)
	l := names.pieces.locate(strings.Repeat(short, 100)+strings.Repeat("ab", 49), new(letterReader))
	for from := 0; from < len(l.ids); {
		to := l.cut(from, 50)
		check.Must(t, to > from && (to >= len(l.ids) || l.of[to-1] != l.of[to] || l.of[from] == l.of[to]),
			"a window from %d to %d parts a word", from, to)
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
		{"letters", "names", replace(configFile, `"I-ORG"`, `"ORG"`), `the model has the label "ORG"`},
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

func write(name, content string) func(dir string) error {
	return func(dir string) error {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		return os.WriteFile(full, []byte(content), 0o644)
	}
}

func remove(name string) func(dir string) error {
	return func(dir string) error { return os.RemoveAll(filepath.Join(dir, name)) }
}

// replace replaces a part of a file.
func replace(name, from, to string) func(dir string) error {
	return func(dir string) error {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		return write(name, strings.Replace(string(b), from, to, 1))(dir)
	}
}

func folder(name string) func(dir string) error {
	return func(dir string) error {
		if err := remove(name)(dir); err != nil {
			return err
		}
		return os.Mkdir(filepath.Join(dir, name), 0o755)
	}
}

func both(a, b func(string) error) func(string) error {
	return func(dir string) error {
		if err := a(dir); err != nil {
			return err
		}
		return b(dir)
	}
}

// changed returns the tiny weights with one fault.
func changed(t *testing.T, change func(map[string]array)) func(dir string) error {
	w := tinyWeights(t)
	change(w)
	return write(weightsFile, string(encodeTensors(w, "F32")))
}

// A folder that is not a model is refused with an error that names the file, the fault and the remedy.
func TestHostileFolders(t *testing.T) {
	whole := string(encodeTensors(tinyWeights(t), "F32"))
	length := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	const words, query = "embeddings.word_embeddings.weight", "encoder.layer.1.attention.self.query.weight"
	pooling := "1_Pooling/config.json"
	for _, tt := range []struct {
		name     string
		change   func(dir string) error
		file     string
		contains string
	}{
		{"no folder", remove(""), configFile, "is missing: name the folder of a BERT"},
		{"empty folder", remove(configFile), configFile, "is missing"},
		{"config is a folder", folder(configFile), configFile, "not a file of at most"},
		{"config is no JSON", write(configFile, "<html>"), configFile, "invalid character"},
		{"config of another kind", replace(configFile, `"bert"`, `"mpnet"`), configFile, `model_type is "mpnet", want "bert" or "xlm-roberta": use a BERT`},
		{"config says nothing", write(configFile, "{}"), configFile, "hidden_size is 0"},
		{"config with a word for a number", replace(configFile, "64", `"64"`), configFile, "cannot unmarshal"},
		{"huge size", replace(configFile, "64", "1000000000000"), configFile, "hidden_size is 1000000000000"},
		{"beyond all numbers", replace(configFile, "64", "1e300"), configFile, "cannot unmarshal"},
		{"negative layers", replace(configFile, `"num_hidden_layers":2`, `"num_hidden_layers":-2`), configFile, "num_hidden_layers is -2"},
		{"heads that do not divide", replace(configFile, `"num_attention_heads":2`, `"num_attention_heads":3`), configFile, "a multiple of 32"},
		{"another activation", replace(configFile, `"gelu"`, `"relu"`), configFile, `hidden_act is "relu"`},
		{"more layers than weights", replace(configFile, `"num_hidden_layers":2`, `"num_hidden_layers":3`), weightsFile, `"encoder.layer.2.attention.self.query.weight" is missing`},

		{"no weights", remove(weightsFile), weightsFile, "file does not exist: save the model as one safetensors file"},
		{"weights are a folder", folder(weightsFile), weightsFile, "not a regular file"},
		{"empty weights", write(weightsFile, ""), weightsFile, "no header: EOF: copy the file again"},
		{"weights are a picture", write(weightsFile, "\x89PNG\r\n\x1a\n plus some more"), weightsFile, "cut off, or no safetensors"},
		{"weights are a Git LFS pointer", write(weightsFile, "version https://git-lfs.github.com/spec/v1\n"), weightsFile, "no safetensors file"},
		{"cut in the header", write(weightsFile, whole[:100]), weightsFile, "cut off"},
		{"cut in the numbers", write(weightsFile, whole[:len(whole)/2]), weightsFile, "cut off"},
		{"cut by a byte", write(weightsFile, whole[:len(whole)-1]), weightsFile, "cut off"},
		{"huge header", write(weightsFile, length(math.MaxUint64)+"{}"), weightsFile, "the header has 18446744073709551615 bytes"},
		{"header is no JSON", write(weightsFile, length(3)+"{{}"), weightsFile, "the header is not JSON: invalid"},
		{"header of another kind", write(weightsFile, length(8)+`{"a": 1}`), weightsFile, `tensor "a"`},
		{"negative place", write(weightsFile, string(withHeader(map[string]any{words: map[string]any{"dtype": "F32", "shape": []int{1}, "data_offsets": []int{-4, 0}}}, nil))), weightsFile, "has the data_offsets -4 and 0"},
		{"place beyond the file", write(weightsFile, string(withHeader(map[string]any{words: map[string]any{"dtype": "F32", "shape": []int{1}, "data_offsets": []int64{0, math.MaxInt64}}}, nil))), weightsFile, "ends at byte 9223372036854775807 of 0"},
		{"a tensor is missing", changed(t, func(w map[string]array) { delete(w, query) }), weightsFile, query + `" is missing`},
		{"wrong shape", changed(t, func(w map[string]array) { w[query] = array{[]int{32, 128}, w[query].values} }), weightsFile, "has the shape [32 128], config.json wants [64 64]"},
		{"fewer numbers than the shape", changed(t, func(w map[string]array) { w[query] = array{[]int{64, 64}, w[query].values[:64]} }), weightsFile, "has 256 bytes"},
		{"whole numbers", func(dir string) error { return replace(weightsFile, `"F32"`, `"I32"`)(dir) }, weightsFile, `has the type "I32"`},
		{"no number", changed(t, func(w map[string]array) { w[query].values[5] = math.NaN() }), weightsFile, "infinite numbers or NaN"},

		{"no vocabulary", both(remove(tokenizerFile), remove(vocabFile)), vocabFile, "is missing"},
		{"tokenizer is no JSON", write(tokenizerFile, "{"), tokenizerFile, "unexpected end"},
		{"tokenizer of another kind", replace(tokenizerFile, `"WordPiece"`, `"BPE"`), tokenizerFile, `model is "BPE", want "WordPiece" or "Unigram"`},
		{"tokenizer with another normalizer", replace(tokenizerFile, `"BertNormalizer"`, `"NFKC"`), tokenizerFile, `normalizer is "NFKC"`},
		{"a number beyond the vocabulary", replace(tokenizerFile, `"owl":`, `"owl":1`), tokenizerFile, `piece "owl" has the number`},
		{"a negative number", replace(tokenizerFile, `"owl":`, `"owl":-`), tokenizerFile, "has the number -"},
		{"no [SEP]", replace(tokenizerFile, "[SEP]", "[sep]"), tokenizerFile, `has no "[SEP]"`},
		{"vocabulary of another model", both(remove(tokenizerFile), write(vocabFile, strings.Repeat("x\n", 500)+"y")), vocabFile, "vocab_size in config.json is"},
		{"empty vocabulary", both(remove(tokenizerFile), write(vocabFile, "")), vocabFile, `has no "[CLS]"`},

		{"modules with a dense layer", replace(modulesFile, "models.Normalize", "models.Dense"), modulesFile, "want Normalize"},
		{"modules without pooling", write(modulesFile, `[{"type": "x.Transformer"}]`), modulesFile, "1 modules"},
		{"modules outside", replace(modulesFile, "1_Pooling", "../../etc"), modulesFile, "outside the folder"},
		{"modules are an object", write(modulesFile, "{}"), modulesFile, "cannot unmarshal"},
		{"no pooling", remove("1_Pooling"), pooling, "is missing"},
		{"pooling by the largest", write(pooling, `{"word_embedding_dimension": 64, "pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": true}`), pooling, "by the mean"},
		{"pooling of another model", replace(pooling, "64", "768"), pooling, "word_embedding_dimension is 768"},
		{"pooling without the prompt", replace(pooling, "{", `{"include_prompt": false, `), pooling, "including the prompt's"},
		{"a default prompt that is none", write(promptsFile, `{"prompts": {}, "default_prompt_name": "x"}`), promptsFile, `no prompt has the name "x"`},
		{"a prompt of a book", write(promptsFile, `{"prompts": {"query": "`+strings.Repeat("a ", 1000)+`"}}`), promptsFile, "a prompt has 2000 bytes"},
		{"prompts of another kind", write(promptsFile, `{"prompts": []}`), promptsFile, "cannot unmarshal"},
		{"no room for a text", write(sentenceFile, `{"max_seq_length": 2}`), sentenceFile, "max_seq_length is 2, want 3 to 120"},
		{"more room than places", write(sentenceFile, `{"max_seq_length": 512}`), sentenceFile, "max_seq_length is 512"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := tiny(t)
			check.OK(t, tt.change(dir))
			_, err := Open(dir, Options{})
			check.Must(t, err != nil, "it was opened")
			file := filepath.Join(dir, filepath.FromSlash(tt.file))
			check.True(t, strings.HasPrefix(err.Error(), "local: "+file+": ") &&
				strings.Contains(err.Error(), tt.contains), "%v, want %s and %q", err, file, tt.contains)
			n := len(remedies(err.Error()))
			check.Equal(t, n, 1, "%v: %d remedies", err, n)
		})
	}
	check.Fails(t, check.Err(Open(tiny(t), Options{Workers: -1})), "Workers is -1")
}

func remedies(s string) (found []string) {
	for _, r := range []string{remedyFolder, remedyCopy, remedyModel, "save the model"} {
		if strings.Contains(s, ": "+r) {
			found = append(found, r)
		}
	}
	return found
}

// Weights whose products overflow give an error and no vector.
func TestWeightsBeyondAllNumbers(t *testing.T) {
	dir := tiny(t)
	err := changed(t, func(w map[string]array) {
		for name, a := range w {
			if strings.HasSuffix(name, "output.dense.weight") || strings.HasSuffix(name, "LayerNorm.weight") {
				for i := range a.values {
					a.values[i] = 3e38
				}
			}
		}
	})(dir)
	check.OK(t, err)
	_, err = mustOpen(t, dir).EmbedQuery(t.Context(), "owl")
	check.Fails(t, err, "copy the model again")
}

// A header is read in memory of its own size, and no tensor is allocated before the file is known to contain
// it.
func FuzzTensors(f *testing.F) {
	whole := encodeTensors(map[string]array{"a": {[]int{2, 2}, []float64{1, 2, 3, 4}}}, "F32")
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(withHeader(map[string]any{"a": map[string]any{"dtype": "F16", "shape": []int64{1 << 40, 1 << 40}, "data_offsets": []int{0, 0}}}, nil))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\x7f{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := openTensors(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for name, x := range in.by {
			if len(x.Shape) != 2 || x.Shape[0] < 1 || x.Shape[0] > maxVocab || x.Shape[1] < 1 || x.Shape[1] > maxHidden {
				continue // no config needs this tensor
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := in.floats(name, int(x.Shape[0]), int(x.Shape[1]))
			runtime.ReadMemStats(&after)
			check.True(t, after.TotalAlloc-before.TotalAlloc <= 1<<20+4*uint64(len(b)),
				"%d bytes allocated for a file of %d", after.TotalAlloc-before.TotalAlloc, len(b))
			check.True(t, err != nil || len(got) == int(x.Shape[0]*x.Shape[1]), "%d numbers for the shape %v", len(got), x.Shape)
		}
	})
}

// Any vocabulary and any text give between two and limit tokens, all in the vocabulary, and between the two
// special tokens.
func FuzzTokens(f *testing.F) {
	dir := f.TempDir()
	check.OK(f, graphragtest.WriteBERT(dir))
	tokenizer := check.Of(os.ReadFile(filepath.Join(dir, tokenizerFile))).OK(f)
	f.Add(tokenizer, "The barn owl, naïve 東京!")
	f.Add([]byte("[CLS]\n[SEP]\n[UNK]\nowl\n##s\n東"), "\x00\xff\u0301\u0301 I\u0307İ"+strings.Repeat("a", 200))
	f.Add([]byte("[CLS]\r\n[SEP]\n[UNK]\n##\n\n\xff"), "##\xff")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		const vocab, limit = 1000, 7
		w := wordPiece{rules: wordRules{Clean: true, Chinese: true, Lower: true}}
		if w.parseTokenizer(file, vocab) != nil && w.parseVocabulary(file, vocab) != nil {
			return
		}
		before := []int32{42}
		got := w.tokens(before, text, limit, new(letterReader))
		check.Must(t, got[0] == 42 && len(got) >= 3 && len(got) <= 1+limit && got[1] == w.begin &&
			got[len(got)-1] == w.end, "%q: %v", text, got)
		for _, id := range got[1:] {
			check.True(t, id >= 0 && id < vocab, "%q: %v", text, got)
		}
	})
}
