// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

// file is a tokenizer.json with changes, and perhaps pieces for all bytes.
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
	b := check.Of(json.Marshal(f)).OK(t)
	return b
}

// The numbers are those of the library tokenizers.
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

// writeXLMR writes a small XLM-R of random numbers with the vocabulary of unigram.json.
func writeXLMR(t testing.TB, dir string) {
	t.Helper()
	g := readUnigram(t)
	arrays, pieces := map[string]array{}, len(g.Tokenizer["model"].(map[string]any)["vocab"].([]any))
	for name, a := range tinyWeights(t) {
		switch name {
		case "embeddings.word_embeddings.weight":
			rows := a.shape[0]
			for len(a.values) < pieces*tinyHidden { // no two alike
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

// The vectors are those of PyTorch: places begin behind that of the padding.
func TestUnigramModel(t *testing.T) {
	dir := os.Getenv("WILDGRAPH_UNIGRAM") // where unigram.py finds the model
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

// What the tokenizer cannot do is refused, with the part that asks for it.
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

// No table and no text makes it panic, and numbers stay in the vocabulary.
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
