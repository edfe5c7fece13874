// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

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

// replace changes a piece of a file.
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

// changed are the tiny weights with one thing wrong.
func changed(t *testing.T, change func(map[string]array)) func(dir string) error {
	w := tinyWeights(t)
	change(w)
	return write(weightsFile, string(encodeTensors(w, "F32")))
}

// Every folder that is not a model is refused, by an error that names the file, says
// what is wrong, and what to do.
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
		{"config is a folder", folder(configFile), configFile, "not a file"},
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
		{"weights are a folder", folder(weightsFile), weightsFile, "not a file"},
		{"empty weights", write(weightsFile, ""), weightsFile, "no header: EOF: copy the file again"},
		{"weights are a picture", write(weightsFile, "\x89PNG\r\n\x1a\n plus some more"), weightsFile, "cut off, or no safetensors"},
		{"weights are a Git LFS pointer", write(weightsFile, "version https://git-lfs.github.com/spec/v1\n"), weightsFile, "no safetensors file"},
		{"cut in the header", write(weightsFile, whole[:100]), weightsFile, "cut off"},
		{"cut in the numbers", write(weightsFile, whole[:len(whole)/2]), weightsFile, "cut off"},
		{"cut by a byte", write(weightsFile, whole[:len(whole)-1]), weightsFile, "cut off"},
		{"huge header", write(weightsFile, length(math.MaxUint64)+"{}"), weightsFile, "the header has 18446744073709551615 bytes"},
		{"header is no JSON", write(weightsFile, length(3)+"{{}"), weightsFile, "the header: invalid"},
		{"header of another kind", write(weightsFile, length(8)+`{"a": 1}`), weightsFile, `tensor "a"`},
		{"negative place", write(weightsFile, string(withHeader(map[string]any{words: map[string]any{"dtype": "F32", "shape": []int{1}, "data_offsets": []int{-4, 0}}}, nil))), weightsFile, "lies from -4 to 0"},
		{"place beyond the file", write(weightsFile, string(withHeader(map[string]any{words: map[string]any{"dtype": "F32", "shape": []int{1}, "data_offsets": []int64{0, math.MaxInt64}}}, nil))), weightsFile, "ends at byte 9223372036854775807 of 0"},
		{"a tensor is missing", changed(t, func(w map[string]array) { delete(w, query) }), weightsFile, query + `" is missing`},
		{"wrong shape", changed(t, func(w map[string]array) { w[query] = array{[]int{32, 128}, w[query].values} }), weightsFile, "has the shape [32 128], config.json wants [64 64]"},
		{"fewer numbers than the shape", changed(t, func(w map[string]array) { w[query] = array{[]int{64, 64}, w[query].values[:64]} }), weightsFile, "has 256 bytes"},
		{"whole numbers", func(dir string) error { return replace(weightsFile, `"F32"`, `"I32"`)(dir) }, weightsFile, `has the type "I32"`},
		{"no number", changed(t, func(w map[string]array) { w[query].values[5] = math.NaN() }), weightsFile, "no numbers"},

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
		{"pooling without the prompt", replace(pooling, "{", `{"include_prompt": false, `), pooling, "those of a prompt included"},
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

// Weights that are numbers, but make none, give an error and no vector.
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

// A header is read in memory of its own size, and no tensor is made before it is
// known to be there.
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
				continue // no config asks for it
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

// Whatever a vocabulary and a text say, there are two to limit tokens, all of them
// in the vocabulary, between the two that stand around a text.
func FuzzTokens(f *testing.F) {
	dir := f.TempDir()
	check.OK(f, embedtest.WriteBERT(dir))
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
