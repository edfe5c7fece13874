// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tiny model: a BERT of random numbers, with all that the real ones have.
const (
	tinyHidden = 64
	tinyHeads  = 2
	tinyLayers = 2
	tinyInner  = 96
	tinyPlaces = 120
	tinyTokens = 101
)

var tinyPieces = strings.Fields("[PAD] [UNK] [CLS] [SEP] [MASK] . , ! ? ' - a b c d e i n o r s t u ##a ##b ##e ##g ##i ##l ##n ##o ##r ##s ##t ##u ##s " +
	"owl barn mouse hear ##ing quick brown fox the hunt ##s by dog naive 東 京")

// WriteTiny writes the tiny model to a folder.
func WriteTiny(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "1_Pooling"), 0o755); err != nil {
		return err
	}
	vocab := map[string]int{}
	for i, p := range tinyPieces {
		vocab[p] = i
	}
	tokenizer, err := json.Marshal(map[string]any{
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model":         map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
	})
	if err != nil {
		return err
	}
	files := map[string]string{
		"config.json": fmt.Sprintf(`{"model_type": "bert", "hidden_size": %d, "num_hidden_layers": %d, "num_attention_heads": %d, "intermediate_size": %d,
			"vocab_size": %d, "max_position_embeddings": %d, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}`,
			tinyHidden, tinyLayers, tinyHeads, tinyInner, len(tinyPieces), tinyPlaces),
		"modules.json": `[{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
			{"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
			{"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]`,
		"1_Pooling/config.json":     fmt.Sprintf(`{"word_embedding_dimension": %d, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}`, tinyHidden),
		"sentence_bert_config.json": fmt.Sprintf(`{"max_seq_length": %d, "do_lower_case": false}`, tinyTokens),
		"tokenizer_config.json":     `{"do_lower_case": true}`,
		"tokenizer.json":            string(tokenizer),
		"vocab.txt":                 strings.Join(tinyPieces, "\n") + "\n",
		"model.safetensors":         string(encodeTensors(tinyWeights(), "F32")),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// array is a tensor in a test.
type array struct {
	shape  []int
	values []float64
}

// tinyWeights are random, rounded to what all types of a file hold.
func tinyWeights() map[string]array {
	rng := rand.New(rand.NewPCG(7, 7))
	out := map[string]array{}
	add := func(name string, mean, spread float64, shape ...int) {
		a := array{shape: shape}
		n := 1
		for _, s := range shape {
			n *= s
		}
		for range n {
			a.values = append(a.values, math.Round((mean+spread*rng.NormFloat64())*32)/32)
		}
		out[name] = a
	}
	norm := func(name string) {
		add(name+".weight", 1, .1, tinyHidden)
		add(name+".bias", 0, .1, tinyHidden)
	}
	linear := func(name string, in, outputs int) {
		add(name+".weight", 0, 1.5/math.Sqrt(float64(in)), outputs, in)
		add(name+".bias", 0, .2, outputs)
	}
	add("embeddings.word_embeddings.weight", 0, 1, len(tinyPieces), tinyHidden)
	add("embeddings.position_embeddings.weight", 0, .3, tinyPlaces, tinyHidden)
	add("embeddings.token_type_embeddings.weight", 0, .3, 2, tinyHidden)
	norm("embeddings.LayerNorm")
	for l := range tinyLayers {
		at := fmt.Sprintf("encoder.layer.%d.", l)
		for _, part := range []string{"query", "key", "value"} {
			linear(at+"attention.self."+part, tinyHidden, tinyHidden)
		}
		linear(at+"attention.output.dense", tinyHidden, tinyHidden)
		norm(at + "attention.output.LayerNorm")
		linear(at+"intermediate.dense", tinyHidden, tinyInner)
		linear(at+"output.dense", tinyInner, tinyHidden)
		norm(at + "output.LayerNorm")
	}
	return out
}

// encodeTensors writes a safetensors file, all numbers in one type.
func encodeTensors(arrays map[string]array, kind string) []byte {
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	names := make([]string, 0, len(arrays))
	for name := range arrays {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		from := len(data)
		for _, x := range arrays[name].values {
			bits := math.Float32bits(float32(x))
			switch kind {
			case "F32":
				data = binary.LittleEndian.AppendUint32(data, bits)
			case "BF16":
				data = binary.LittleEndian.AppendUint16(data, uint16(bits>>16))
			case "F16":
				data = binary.LittleEndian.AppendUint16(data, halfOf(x))
			}
		}
		header[name] = map[string]any{"dtype": kind, "shape": arrays[name].shape, "data_offsets": []int{from, len(data)}}
	}
	return withHeader(header, data)
}

func withHeader(header any, data []byte) []byte {
	h, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h, data)
}

// halfOf is the 16-bit number of a multiple of 1/128 below 16.
func halfOf(x float64) uint16 {
	if x == 0 {
		return 0
	}
	frac, exp := math.Frexp(math.Abs(x))
	h := uint16(exp+14)<<10 | uint16(frac*2048)&1023
	if x < 0 {
		h |= 1 << 15
	}
	return h
}

// tiny is the folder of the tiny model.
func tiny(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := WriteTiny(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mustOpen(t testing.TB, dir string) *Encoder {
	t.Helper()
	e, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
