// SPDX-License-Identifier: Apache-2.0

package graphragtest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The model of WriteBERT.
const (
	bertHidden, bertInner = 64, 96
	bertLayers, bertHeads = 2, 2
	bertPlaces, bertLong  = 120, 101
	bertPieces            = "[PAD] [UNK] [CLS] [SEP] [MASK] . , ! ? ' - a b c d e i n o r s t u ##a ##b ##e ##g ##i ##l ##n ##o ##r ##s ##t ##u " +
		"owl barn mouse hear ##ing quick brown fox the hunt by dog naive 東 京"
)

// WriteBERT writes a sentence encoder into a folder, in the files of sentence-transformers: a BERT of random
// numbers, with two layers and vectors of 64, for tests that have no real one. It is the same each time. It knows
// some fifty pieces of words, takes texts of 101 tokens, and its vectors are means of length 1.
func WriteBERT(dir string) error { return writeBERT(dir, object{}, "", nil) }

// WriteHead writes the model of WriteBERT with a layer of random numbers on top, in the files
// of the library transformers: BertForSequenceClassification, BertForTokenClassification
// or BertForQuestionAnswering, for tests of the heads of package local.
func WriteHead(dir, architecture string, labels ...string) error {
	byNumber := map[string]string{}
	for i, l := range labels {
		byNumber[strconv.Itoa(i)] = l
	}
	layer := "classifier"
	if architecture == "BertForQuestionAnswering" {
		layer = "qa_outputs"
	}
	return writeBERT(dir, object{"architectures": []string{architecture}, "id2label": byNumber}, "bert.", func(linear linearFunc) {
		if architecture == "BertForSequenceClassification" {
			linear("bert.pooler.dense", bertHidden, bertHidden)
		}
		linear(layer, bertHidden, len(labels))
	})
}

type object = map[string]any

// linearFunc writes a layer of random numbers.
type linearFunc func(name string, in, out int)

// writeBERT writes the model with more in config.json, the names of its weights with a
// prefix, and what head adds to them.
func writeBERT(dir string, more object, prefix string, head func(linearFunc)) error {
	pieces := strings.Fields(bertPieces)
	vocab := map[string]int{}
	for i, p := range pieces {
		vocab[p] = i
	}
	module := func(i int, path, kind string) object {
		return object{"idx": i, "path": path, "type": "sentence_transformers.models." + kind}
	}
	files := map[string]any{
		"config.json": object{
			"model_type": "bert", "hidden_act": "gelu", "hidden_size": bertHidden, "num_hidden_layers": bertLayers, "num_attention_heads": bertHeads,
			"intermediate_size": bertInner, "vocab_size": len(pieces), "max_position_embeddings": bertPlaces, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
		},
		"modules.json":              []object{module(0, "", "Transformer"), module(1, "1_Pooling", "Pooling"), module(2, "2_Normalize", "Normalize")},
		"1_Pooling/config.json":     object{"word_embedding_dimension": bertHidden, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true},
		"sentence_bert_config.json": object{"max_seq_length": bertLong, "do_lower_case": false},
		"tokenizer_config.json":     object{"do_lower_case": true},
		"tokenizer.json": object{
			"normalizer":    object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
			"pre_tokenizer": object{"type": "BertPreTokenizer"},
			"model":         object{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
		},
	}
	maps.Copy(files["config.json"].(object), more)
	if err := os.MkdirAll(filepath.Join(dir, "1_Pooling"), 0o755); err != nil {
		return err
	}
	for name, content := range files {
		b, err := json.Marshal(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), b, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "vocab.txt"), []byte(strings.Join(pieces, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	b, err := bertWeights(len(pieces), prefix, head)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "model.safetensors"), b, 0o644)
}

// bertWeights is a safetensors file. Its numbers are multiples of 1/32, so that they
// are the same in all types of such files.
func bertWeights(pieces int, prefix string, head func(linearFunc)) ([]byte, error) {
	rng := rand.New(rand.NewPCG(7, 7))
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data bytes.Buffer
	add := func(name string, mean, spread float64, shape ...int) {
		from, n := data.Len(), 1
		for _, s := range shape {
			n *= s
		}
		for range n {
			x := float32(math.Round((mean+spread*rng.NormFloat64())*32) / 32)
			data.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
		}
		header[prefix+name] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{from, data.Len()}}
	}
	norm := func(name string) {
		add(name+".weight", 1, .1, bertHidden)
		add(name+".bias", 0, .1, bertHidden)
	}
	linear := func(name string, in, out int) {
		add(name+".weight", 0, 1.5/math.Sqrt(float64(in)), out, in)
		add(name+".bias", 0, .2, out)
	}
	add("embeddings.word_embeddings.weight", 0, 1, pieces, bertHidden)
	add("embeddings.position_embeddings.weight", 0, .3, bertPlaces, bertHidden)
	add("embeddings.token_type_embeddings.weight", 0, .3, 2, bertHidden)
	norm("embeddings.LayerNorm")
	for l := range bertLayers {
		at := "encoder.layer." + strconv.Itoa(l) + "."
		for _, part := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			linear(at+part, bertHidden, bertHidden)
		}
		norm(at + "attention.output.LayerNorm")
		linear(at+"intermediate.dense", bertHidden, bertInner)
		linear(at+"output.dense", bertInner, bertHidden)
		norm(at + "output.LayerNorm")
	}
	if head != nil {
		prefix = ""
		head(linear)
	}
	h, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...), data.Bytes()...), nil
}
