// SPDX-License-Identifier: Apache-2.0

package graphragtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Sizes of the model that WriteBERT writes.
const (
	bertHidden, bertInner = 64, 96
	bertLayers, bertHeads = 2, 2
	bertPlaces, bertLong  = 120, 101
	bertPieces            = "[PAD] [UNK] [CLS] [SEP] [MASK] . , ! ? ' - a b c d e i n o r s t u ##a ##b ##e ##g ##i ##l ##n ##o ##r ##s ##t ##u " +
		"owl barn mouse hear ##ing quick brown fox the hunt by dog naive 東 京"
)

// WriteBERT writes a sentence encoder into a folder, in the files of sentence-transformers: a BERT of random
// numbers, with two layers and vectors of 64 numbers, for tests without a real model. The model is the same
// each time. It has some fifty pieces of words, takes texts of 101 tokens, and returns means scaled to length
// 1.
func WriteBERT(dir string) error { return writeBERT(dir, object{}, "", nil) }

// WriteHead writes the model of WriteBERT with a layer of random numbers on top, in the files of the library
// transformers: BertForSequenceClassification, BertForTokenClassification or BertForQuestionAnswering, for
// tests of package local.
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

// linearFunc adds a linear layer of random numbers to a model.
type linearFunc func(name string, in, out int)

// writeBERT writes the model with additional keys in config.json, a prefix before the names of its weights, and
// the layers that head adds.
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

// bertWeights returns a safetensors file. Its numbers are multiples of 1/32, so that they are exact in all
// types of such files.
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

// Embedder runs the conformance tests on e, which must embed locally or be a fake: it is called some dozen
// times, also with hostile texts. If e is also an [embed.Model], its Dim is checked too.
func Embedder(t *testing.T, e embed.Embedder) {
	t.Helper()
	texts := []string{
		"the quick brown fox jumps over the lazy dog",
		"",
		"Marie Curie discovered polonium and radium in Paris.",
		"\x00\xff\xfe broken \xc3\x28",
		"東京都 हिन्दी العربية 🦊",
		strings.Repeat("long ", 20_000) + strings.Repeat("x", 110_000),
		"the quick brown fox jumps over the lazy dog",
	}
	given := slices.Clone(texts)
	whole, err := e.EmbedDocuments(t.Context(), given)
	check.Must(t, err == nil && slices.Equal(given, texts), "EmbedDocuments: %v, or it changed the texts", err)
	t.Run("shape", func(t *testing.T) { checkShape(t, e, texts, whole) })
	t.Run("no texts", func(t *testing.T) {
		if got, err := e.EmbedDocuments(t.Context(), nil); err != nil || len(got) != 0 {
			t.Errorf("EmbedDocuments of no texts: %d vectors, error %v; want none of either", len(got), err)
		}
	})
	t.Run("batch", func(t *testing.T) {
		for i, text := range texts {
			one, err := e.EmbedDocuments(t.Context(), []string{text})
			check.True(t, err == nil && len(one) == 1 && slices.Equal(one[0], whole[i]),
				"text %d alone has another vector than among others (error %v)", i, err)
		}
	})
	t.Run("concurrent", func(t *testing.T) { concurrent(t, e, texts, whole) })
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		check.Is(t, check.Err(e.EmbedDocuments(ctx, []string{"never seen before"})), context.Canceled, "EmbedDocuments")
		check.Is(t, check.Err(e.EmbedQuery(ctx, "never seen before")), context.Canceled, "EmbedQuery")
	})
}

func checkShape(t *testing.T, e embed.Embedder, texts []string, vectors [][]float32) {
	check.Must(t, len(vectors) == len(texts), "%d vectors for %d texts", len(vectors), len(texts))
	components := len(vectors[0])
	if m, ok := e.(embed.Model); ok {
		check.True(t, m.Dim() == components, "Dim is %d, vectors have %d components", m.Dim(), components)
		check.True(t, m.Name() != "", "Name is empty")
	}
	for i, text := range texts {
		query, err := e.EmbedQuery(t.Context(), text)
		check.Must(t, err == nil, "EmbedQuery of text %d: %v", i, err)
		for _, v := range [][]float32{vectors[i], query} {
			check.True(t, len(v) == components, "text %d: %d components, want %d", i, len(v), components)
			for j, c := range v {
				check.True(t, c-c == 0, "text %d: component %d is %v", i, j, c)
			}
		}
	}
	check.True(t, slices.Equal(vectors[0], vectors[len(vectors)-1]), "equal texts have different vectors")
}

func concurrent(t *testing.T, e embed.Embedder, texts []string, whole [][]float32) {
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for range cap(errs) {
		wg.Go(func() {
			got, err := e.EmbedDocuments(t.Context(), texts)
			if err == nil && !slices.EqualFunc(got, whole, slices.Equal) {
				err = fmt.Errorf("concurrent callers get other vectors than a single one")
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

// Texts are texts that every extractor must accept: plain and hostile ones.
var Texts = []string{
	"",
	" \n\t ",
	"Ada Lovelace wrote to Charles Babbage in July 1843. He answered from London.",
	"The World Health Organization (WHO) was founded in Geneva in 1948.",
	"台风韦森特今晨登陆广东。 Владимир встретился с Анной. وقال الرئيس",
	"Broken \xff\xfe bytes, \x00 control \x1b characters and a na\u0308me.",
	"A name of many letters: " + strings.Repeat("Aa", 5000) + ".",
}

// Extractor checks an extractor on [Texts]: one extraction per chunk, in order, spans within the chunk and on
// rune boundaries, ends of facts among the mentions, the same result twice, and an error that wraps the error
// of a cancelled context. A model behind the extractor must always give the same reply to the same prompt.
func Extractor(t *testing.T, x extract.Extractor) {
	t.Helper()
	var chunks []graphrag.Chunk
	for i, s := range Texts {
		chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprintf("doc%d#000000", i), Doc: fmt.Sprintf("doc%d", i), End: len(s), Text: s})
	}
	found, err := x.Extract(context.Background(), chunks)
	check.Must(t, err == nil, "Extract: %v", err)
	check.Must(t, len(found) == len(chunks), "%d extractions of %d chunks", len(found), len(chunks))
	for i, e := range found {
		checkExtraction(t, chunks[i], e)
	}
	again, err := x.Extract(context.Background(), chunks)
	check.True(t, err == nil && reflect.DeepEqual(found, again),
		"a second Extract of the same chunks differs (error %v)", err)
	if none, err := x.Extract(context.Background(), nil); err != nil || len(none) != 0 {
		t.Errorf("Extract of no chunks: %d extractions and error %v, want none of either", len(none), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	check.Is(t, check.Err(x.Extract(ctx, chunks)), context.Canceled, "a cancelled Extract")
}

func checkExtraction(t *testing.T, c graphrag.Chunk, e kg.Extraction) {
	t.Helper()
	check.True(t, e.Chunk == c.ID && e.Doc == c.Doc,
		"chunk %q of %q: the extraction says %q of %q", c.ID, c.Doc, e.Chunk, e.Doc)
	known := map[string]bool{}
	for _, m := range e.Mentions {
		known[m.Name] = true
		check.True(t, m.Name != "", "chunk %q: a mention without a name", c.ID)
		checkSpan(t, c, m.Span)
	}
	for _, f := range e.Facts {
		check.True(t, known[f.Head] && known[f.Tail],
			"chunk %q: an end of (%s; %s; %s) is not among the mentions", c.ID, f.Head, f.Relation, f.Tail)
		checkSpan(t, c, f.Span)
	}
	for _, a := range e.Attributes {
		check.True(t, known[a.Entity],
			"chunk %q: attribute %s of %q, which is not among the mentions", c.ID, a.Key, a.Entity)
		checkSpan(t, c, a.Span)
	}
}

// checkSpan checks a span of a chunk's text; the zero span means an unknown place.
func checkSpan(t *testing.T, c graphrag.Chunk, s kg.Span) {
	t.Helper()
	switch {
	case s == kg.Span{}:
	case s.Start < 0 || s.Start >= s.End || s.End > len(c.Text):
		t.Errorf("chunk %q: span %v is not within 0..%d", c.ID, s, len(c.Text))
	case !boundary(c.Text, s.Start), !boundary(c.Text, s.End):
		t.Errorf("chunk %q: span %v cuts a rune", c.ID, s)
	}
}

func boundary(s string, i int) bool {
	return i == len(s) || utf8.RuneStart(s[i]) || !utf8.ValidString(s)
}
