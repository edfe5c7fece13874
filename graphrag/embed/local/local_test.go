// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
	"github.com/wildgraph/wildgraph/internal/check"
)

// sentences have from two tokens to more than the model reads.
var sentences = []string{
	"", "owl", "The barn owl hears a mouse.", "quick brown foxes hunting by the barn", "Naïve owls? 東京!", "zzz",
	strings.Repeat("the owl hunts a mouse, ", 7), strings.Repeat("a ", 45), strings.Repeat("brown dog ", 200),
}

// Vectors equal BERT's in float64, with every kernel, except for some rounding errors.
func TestVectorsAreThoseOfTheTwin(t *testing.T) {
	w := twin(tinyWeights(t))
	for name, k := range kernelSets() {
		e := mustOpen(t, tiny(t))
		e.net.kernels = k
		got := check.Of(e.EmbedDocuments(t.Context(), sentences)).OK(t)
		for i, text := range sentences {
			want := mean(w.encode(e.words.tokens(nil, text, tinyTokens, new(letterReader))))
			for j := range want {
				check.Must(t, math.Abs(float64(got[i][j])-want[j]) <= 2e-6,
					"%s: %.30q: component %d is %v, want %v", name, text, j, got[i][j], want[j])
			}
		}
	}
}

func TestConforms(t *testing.T) { graphragtest.Embedder(t, mustOpen(t, tiny(t))) }

// Vectors of quantized weights are close to the others, have another name, and conform.
func TestInt8(t *testing.T) {
	dir := tiny(t)
	codes := check.Of(Open(dir, Options{Int8: true})).OK(t)
	graphragtest.Embedder(t, codes)
	numbers := mustOpen(t, dir)
	check.True(t, codes.Name() != numbers.Name(), "vectors of two kinds have one name")
	a, err1 := numbers.EmbedDocuments(t.Context(), sentences)
	b, err2 := codes.EmbedDocuments(t.Context(), sentences)
	check.OK(t, errors.Join(err1, err2))
	for i := range a {
		var ab, aa, bb float64
		for j, x := range a[i] {
			ab, aa, bb = ab+float64(x*b[i][j]), aa+float64(x*x), bb+float64(b[i][j]*b[i][j])
		}
		cos := ab / math.Sqrt(aa*bb)
		check.True(t, cos >= .995 && cos != 1, "%.30q: cosine %v", sentences[i], cos)
	}
}

// A text's vector is the same in any order, with any other texts, and with any number of workers.
func TestSameBits(t *testing.T) {
	dir := tiny(t)
	one := check.Of(Open(dir, Options{Workers: 1})).OK(t)
	five := check.Of(Open(dir, Options{Workers: 5})).OK(t)
	many := slices.Repeat(sentences, 20)
	want := check.Of(one.EmbedDocuments(t.Context(), many)).OK(t)
	slices.Reverse(many)
	got, err := five.EmbedDocuments(t.Context(), many)
	slices.Reverse(got)
	check.True(t, err == nil && slices.EqualFunc(got, want, slices.Equal), "other vectors with five workers, in another order (error %v)", err)
	check.Equal(t, one.Name(), five.Name(), "the names are %s and %s", one.Name(), five.Name())
}

// The types of numbers, the prefix of larger models, and a vocabulary as a list do not change vectors; files
// that matter do.
func TestFormsOfAFolder(t *testing.T) {
	plain := mustOpen(t, tiny(t))
	want := check.Of(plain.EmbedDocuments(t.Context(), sentences)).OK(t)
	w := tinyWeights(t)
	prefixed := map[string]array{}
	for name, a := range w {
		prefixed["bert."+name] = a
	}
	for _, tt := range []struct {
		name          string
		change        func(dir string) error
		vectors, same bool // whether the vectors and the name stay the same
	}{
		{"F16", write(weightsFile, string(encodeTensors(w, "F16"))), true, false},
		{"BF16", write(weightsFile, string(encodeTensors(w, "BF16"))), true, false},
		{"prefix", write(weightsFile, string(encodeTensors(prefixed, "F32"))), true, false},
		{"vocab.txt", remove(tokenizerFile), true, false},
		{"a picture beside it", write("logo.png", "\x89PNG"), true, true},
		{"longer texts", remove(sentenceFile), false, false},
		{"first token", write("1_Pooling/config.json", `{"word_embedding_dimension": 64, "pooling_mode_cls_token": true}`), false, false},
		{"no modules", remove(modulesFile), false, false},
		{"cased", write(tokenizerFile, ""), false, false},
	} {
		dir := tiny(t)
		check.OK(t, tt.change(dir))
		if tt.name == "cased" {
			check.OK(t, errors.Join(os.Remove(filepath.Join(dir, tokenizerFile)), write(casingFile, `{"do_lower_case": false}`)(dir)))
		}
		e := mustOpen(t, dir)
		got, err := e.EmbedDocuments(t.Context(), sentences)
		if err != nil || slices.EqualFunc(got, want, slices.Equal) != tt.vectors || (e.Name() == plain.Name()) != tt.same {
			t.Errorf("%s: same vectors %v, name %s beside %s, error %v", tt.name, !tt.vectors, e.Name(), plain.Name(), err)
		}
	}
}

// Without modules.json a mean is not normalized; with pooling by the first token the vector is that token's.
func TestPooling(t *testing.T) {
	w := twin(tinyWeights(t))
	dir := tiny(t)
	check.OK(t, os.Remove(filepath.Join(dir, modulesFile)))
	e := mustOpen(t, dir)
	tokens := w.encode(e.words.tokens(nil, sentences[2], tinyTokens, new(letterReader)))
	v := check.Of(e.EmbedQuery(t.Context(), sentences[2])).OK(t)
	unit := mean(tokens)
	length := 0.
	for j, u := range unit {
		length += float64(v[j]) * u
	}
	sum := 0.
	for _, row := range tokens {
		sum += dot(row, unit) / float64(len(tokens))
	}
	check.True(t, math.Abs(length-sum) <= 1e-5, "the mean has the length %v, want %v", length, sum)
	dir = tiny(t)
	check.OK(t, write("1_Pooling/config.json", `{"word_embedding_dimension": 64, "pooling_mode_cls_token": true}`)(dir))
	v = check.Of(mustOpen(t, dir).EmbedQuery(t.Context(), sentences[2])).OK(t)
	for j, want := range mean(tokens[:1]) {
		check.Must(t, math.Abs(float64(v[j])-want) <= 2e-6, "component %d of the first token is %v, want %v", j, v[j], want)
	}
}

func TestNothingIsAllocatedForAText(t *testing.T) {
	e := mustOpen(t, tiny(t))
	s, out := new(scratch), make([][]float32, len(sentences))
	for i := range out {
		out[i] = make([]float32, e.Dim())
	}
	put, take := e.encoding("", sentences, out)
	n := testing.AllocsPerRun(10, func() { _ = e.packs(t.Context(), s, 0, len(sentences), put, take) })
	check.True(t, n <= 0, "%v allocations for %d texts", n, len(sentences))
}

// A context that is cancelled during a call ends the call.
func TestCancelledBetweenPacks(t *testing.T) {
	e := mustOpen(t, tiny(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	many := slices.Repeat(sentences, 20)
	out := make([][]float32, len(many))
	for i := range out {
		out[i] = make([]float32, e.Dim())
	}
	e.net.gelu = func([]float32) { cancel() } // cancels while the first batch is computed
	put, take := e.encoding("", many, out)
	check.Is(t, e.packs(ctx, new(scratch), 0, len(many), put, take), context.Canceled)
	check.Equal(t, slices.Max(out[len(out)-1]), 0, "the last pack was encoded")
}

// A prompt is a part of the text: a question with a prompt has the vector of a passage that begins with the
// prompt's words, and prompts change the name.
func TestPrompts(t *testing.T) {
	plain := mustOpen(t, tiny(t))
	for _, tt := range []struct{ file, query, passage string }{
		{`{"prompts": {"query": "a mouse: ", "passage": "the barn: "}}`, "a mouse: ", "the barn: "},
		{`{"prompts": {"query": "a mouse: "}, "default_prompt_name": null}`, "a mouse: ", ""},
		{`{"prompts": {"corpus": "dog ", "document": "barn "}}`, "", "barn "},
		{`{"prompts": {"mine": "fox ", "query": "owl "}, "default_prompt_name": "mine"}`, "owl ", "fox "},
		{`{"__version__": {}}`, "", ""},
	} {
		dir := tiny(t)
		check.OK(t, write(promptsFile, tt.file)(dir))
		e := mustOpen(t, dir)
		want, err := plain.EmbedDocuments(t.Context(), []string{tt.query + "owls hunt", tt.passage + "owls hunt"})
		check.OK(t, err)
		query, err1 := e.EmbedQuery(t.Context(), "owls hunt")
		passages, err2 := e.EmbedDocuments(t.Context(), []string{"owls hunt"})
		err = errors.Join(err1, err2)
		check.True(t, err == nil && slices.Equal(query, want[0]) && slices.Equal(passages[0], want[1]), "%s: other vectors, error %v", tt.file, err)
		check.True(t, (e.Name() == plain.Name()) == (tt.query+tt.passage == ""), "%s: the name is %s", tt.file, e.Name())
	}
}

// Weights with 10 GB after their tensors are refused unread, because of the sizes in their header.
func TestTenGigabytes(t *testing.T) {
	dir := tiny(t)
	file := filepath.Join(dir, weightsFile)
	if err := os.Truncate(file, 10<<30); err != nil {
		t.Skip(err) // the file system has no sparse files
	}
	check.Fails(t, check.Err(Open(dir, Options{})), file, "10 GB of weights")
}

// Expected tokens, derived by hand from the rules of BERT's tokenizer.
func TestTokens(t *testing.T) {
	w, pieces := mustOpen(t, tiny(t)).words, tinyPieces(t)
	for _, row := range append(check.Rows(t, "testdata/tokens.txt"),
		[]string{strings.Repeat("a", 100) + " " + strings.Repeat("a", 101), "a" + strings.Repeat(" ##a", 99) + " [UNK]"},
	) {
		text, want := row[0], row[1]
		var got []string
		ids := w.tokens(nil, text, 200, new(letterReader))
		for _, id := range ids[1 : len(ids)-1] {
			got = append(got, pieces[id])
		}
		check.Equal(t, strings.Join(got, " "), want, "%.40q: %v", text, got)
	}
}

func TestCutTokens(t *testing.T) {
	w := mustOpen(t, tiny(t)).words
	whole := w.tokens(nil, "hearing owls", 10, new(letterReader))
	for limit := 2; limit < 6; limit++ {
		want := append(slices.Clone(whole[:limit-1]), whole[len(whole)-1])
		check.Equal(t, w.tokens(nil, "hearing owls"+strings.Repeat(" a", 1000), limit, new(letterReader)), want, "%d tokens", limit)
	}
}

// The tokens equal those of the library tokenizers (0.23.3) for the same texts with the vocabulary of MiniLM.
func TestTokensOfMiniLM(t *testing.T) {
	dir := os.Getenv("MINILM_DIR")
	if dir == "" {
		t.Skip("MINILM_DIR is not set")
	}
	e := mustOpen(t, dir)
	f := check.Of(os.Open("testdata/tokens.jsonl")).OK(t)
	defer f.Close()
	n := 0
	for in := bufio.NewScanner(f); in.Scan(); n++ {
		var c struct {
			Text string
			IDs  []int32
		}
		check.OK(t, json.Unmarshal(in.Bytes(), &c))
		check.Equal(t, e.words.tokens(nil, c.Text, e.net.tokens, new(letterReader)), c.IDs, "%.60q", c.Text)
	}
	check.True(t, n >= 30, "only %d texts", n)
}

func random(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// kernelSets are the sets of kernels that this processor can run, by name.
func kernelSets() map[string]kernels {
	return map[string]kernels{"portable": portable(), "fastest": fastest()}
}

func TestGELU(t *testing.T) {
	for name, k := range kernelSets() {
		x := []float32{0, -0x1p-140, 1e-30, 1e30, -1e30, math.MaxFloat32, -math.MaxFloat32, -12.5}
		for v := float32(-14); len(x)%matrix.Strip != 0 || v < 14; v += .00731 {
			x = append(x, v)
		}
		got := slices.Clone(x)
		k.gelu(got)
		for i, v := range x {
			want := float64(v) * math.Erfc(-float64(v)/math.Sqrt2) / 2
			check.True(t, math.Abs(float64(got[i])-want) <= 2e-7*math.Abs(float64(v))+1e-38,
				"%s: gelu(%v) is %v, want %v", name, v, got[i], want)
		}
	}
}

func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for name, k := range kernelSets() {
		for _, n := range []int{matrix.Strip, 2 * matrix.Strip, 256} {
			x := random(rng, n)
			for i := range x {
				x[i] *= 5
			}
			x[n-1], x[n-2] = -math.MaxFloat32, -200
			got := slices.Clone(x)
			k.softmax(got)
			sum := 0.
			for _, v := range x {
				sum += math.Exp(float64(v))
			}
			for i, v := range x {
				want := math.Exp(float64(v)) / sum
				check.True(t, math.Abs(float64(got[i])-want) <= 2e-6*want+1e-34,
					"%s: softmax(%v) is %v, want %v", name, v, got[i], want)
			}
		}
	}
}

func TestNormalize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for _, n := range []int{32, 96, 384} {
		x, base, gain, bias := random(rng, n), random(rng, n), random(rng, n), random(rng, n)
		mean, variance := 0., 0.
		for i := range x {
			mean += float64(x[i]+base[i]) / float64(n)
		}
		for i := range x {
			d := float64(x[i]+base[i]) - mean
			variance += d * d / float64(n)
		}
		for name, k := range kernelSets() {
			got := slices.Clone(x)
			k.normalize(got, base, gain, bias, .25)
			for i := range x {
				want := (float64(x[i]+base[i])-mean)/math.Sqrt(variance+.25)*float64(gain[i]) + float64(bias[i])
				check.True(t, math.Abs(float64(got[i])-want) <= 3e-6,
					"%s: length %d: %v, want %v", name, n, got[i], want)
			}
		}
	}
}

// twin is BERT in float64 by its definition: a list of numbers for each token, and nothing packed, batched or
// reordered.
type twin map[string]array

func (w twin) row(name string, i int) []float64 {
	width := w[name].shape[len(w[name].shape)-1]
	return w[name].values[i*width : (i+1)*width]
}

func (w twin) linear(name string, x [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for i := range x {
		for o, b := range w[name+".bias"].values {
			out[i] = append(out[i], b+dot(w.row(name+".weight", o), x[i]))
		}
	}
	return out
}

// norm adds y to x and normalizes the sum.
func (w twin) norm(name string, x, y [][]float64) [][]float64 {
	gain, bias := w[name+".weight"].values, w[name+".bias"].values
	out := make([][]float64, len(x))
	for i := range x {
		mean, variance := 0., 0.
		v := make([]float64, len(x[i]))
		for j := range v {
			v[j] = x[i][j] + y[i][j]
			mean += v[j] / float64(len(v))
		}
		for j := range v {
			variance += (v[j] - mean) * (v[j] - mean) / float64(len(v))
		}
		for j := range v {
			out[i] = append(out[i], (v[j]-mean)/math.Sqrt(variance+1e-12)*gain[j]+bias[j])
		}
	}
	return out
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// attend is softmax(QKᵀ/√d)V, one head at a time.
func attend(q, k, v [][]float64) [][]float64 {
	size := tinyHidden / tinyHeads
	out := make([][]float64, len(q))
	for i := range q {
		for h := range tinyHeads {
			head := func(x []float64) []float64 { return x[h*size : (h+1)*size] }
			weights, sum := make([]float64, len(k)), 0.
			for j := range k {
				weights[j] = math.Exp(dot(head(q[i]), head(k[j])) / math.Sqrt(float64(size)))
				sum += weights[j]
			}
			mixed := make([]float64, size)
			for j := range v {
				for c, x := range head(v[j]) {
					mixed[c] += weights[j] / sum * x
				}
			}
			out[i] = append(out[i], mixed...)
		}
	}
	return out
}

// encode returns the vectors of the tokens.
func (w twin) encode(ids []int32) [][]float64 {
	x, places := make([][]float64, len(ids)), make([][]float64, len(ids))
	for i, id := range ids {
		x[i] = w.row("embeddings.word_embeddings.weight", int(id))
		for j, p := range w.row("embeddings.position_embeddings.weight", i) {
			places[i] = append(places[i], p+w.row("embeddings.token_type_embeddings.weight", 0)[j])
		}
	}
	x = w.norm("embeddings.LayerNorm", x, places)
	for l := range tinyLayers {
		at := fmt.Sprintf("encoder.layer.%d.", l)
		self := at + "attention.self."
		mixed := attend(w.linear(self+"query", x), w.linear(self+"key", x), w.linear(self+"value", x))
		x = w.norm(at+"attention.output.LayerNorm", w.linear(at+"attention.output.dense", mixed), x)
		inner := w.linear(at+"intermediate.dense", x)
		for _, row := range inner {
			for j, v := range row {
				row[j] = v * (1 + math.Erf(v/math.Sqrt2)) / 2
			}
		}
		x = w.norm(at+"output.LayerNorm", w.linear(at+"output.dense", inner), x)
	}
	return x
}

// mean is the mean of the tokens' vectors, of length 1.
func mean(x [][]float64) []float64 {
	out := make([]float64, len(x[0]))
	for _, row := range x {
		for j, v := range row {
			out[j] += v
		}
	}
	length := math.Sqrt(dot(out, out))
	for j := range out {
		out[j] /= length
	}
	return out
}

// The sizes of graphragtest's tiny model.
const (
	tinyHidden = 64
	tinyHeads  = 2
	tinyLayers = 2
	tinyTokens = 101
)

// tiny is the folder of the tiny model.
func tiny(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	check.OK(t, graphragtest.WriteBERT(dir))
	return dir
}

// tinyPieces is the model's vocabulary, by number.
func tinyPieces(t testing.TB) []string {
	t.Helper()
	b := check.Of(os.ReadFile(filepath.Join(tiny(t), vocabFile))).OK(t)
	return strings.Split(string(b), "\n")
}

// array is a tensor with its shape and numbers.
type array struct {
	shape  []int
	values []float64
}

// tinyWeights returns the model's tensors by name, from their definition.
func tinyWeights(t testing.TB) map[string]array {
	t.Helper()
	b := check.Of(os.ReadFile(filepath.Join(tiny(t), weightsFile))).OK(t)
	length := binary.LittleEndian.Uint64(b)
	var header map[string]struct {
		Shape   []int
		Offsets [2]int `json:"data_offsets"`
	}
	check.OK(t, json.Unmarshal(b[8:8+length], &header))
	out := map[string]array{}
	for name, h := range header {
		a := array{shape: h.Shape}
		for at := h.Offsets[0]; at < h.Offsets[1]; at += 4 {
			a.values = append(a.values, float64(math.Float32frombits(binary.LittleEndian.Uint32(b[8+int(length)+at:]))))
		}
		if len(a.shape) > 0 {
			out[name] = a
		}
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

// halfOf returns the 16-bit float of a multiple of 1/128 below 16.
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

func mustOpen(t testing.TB, dir string) *Encoder {
	t.Helper()
	return check.Of(Open(dir, Options{})).OK(t)
}
