// SPDX-License-Identifier: Apache-2.0

package local

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
)

// arithmetic is the version of the forward pass, a part of model names: it changes when vectors do.
const arithmetic = 3

// read reads the whole model folder.
func (e *Encoder) read(dir string, opts Options) (err error) {
	if err = e.begin(opts); err != nil {
		return err
	}
	if e.net.config, err = readConfig(dir); err != nil {
		return err
	}
	if e.prompts, err = readPrompts(dir); err != nil {
		return err
	}
	sum := sha256.New()
	if err = e.readTokenizer(dir, sum); err != nil {
		return err
	}
	if e.prompts != (prompts{}) {
		fmt.Fprintf(sum, "%q %q", e.prompts.query, e.prompts.passage)
	}
	if err = e.readWeights(dir, sum, func(*weights) error { return nil }); err != nil {
		return err
	}
	e.name = fmt.Sprintf("bert-%dx%d-%.8x", e.net.Layers, e.net.Hidden, sum.Sum(nil))
	return nil
}

// readTokenizer reads the vocabulary and its rules, and hashes them and the config into sum.
func (m *model) readTokenizer(dir string, sum hash.Hash) (err error) {
	if m.words, err = readWords(dir, m.net.Vocab, sum); err != nil {
		return err
	}
	switch w := m.words.(type) {
	case *unigram:
		w.lower = m.net.lower
		fmt.Fprintf(sum, "%d %+v", arithmetic, m.net.config)
	case *wordPiece:
		if m.net.lower {
			w.rules = w.rules.lowered()
		}
		r := w.rules
		fmt.Fprintf(sum, "%d %+v %t %t %t %t", arithmetic, m.net.config, r.Clean, r.Chinese, r.strip(), r.Lower)
	}
	if m.int8 {
		fmt.Fprint(sum, " int8")
	}
	return nil
}

// readWeights reads the encoder's weights, calls more to read further tensors, and hashes the file into sum.
func (m *model) readWeights(dir string, sum hash.Hash, more func(*weights) error) error {
	f, err := os.Open(filepath.Join(dir, weightsFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return badFile(dir, weightsFile, "save the model as one safetensors file", fs.ErrNotExist)
	case err != nil:
		return badFile(dir, weightsFile, remedyCopy, err)
	}
	defer f.Close() // closing a file that was only read loses nothing
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	var t *tensors
	if err == nil {
		t, err = openTensors(f, info.Size())
	}
	if err == nil {
		w := &weights{tensors: t}
		if err = m.net.read(w); err == nil {
			if m.int8 {
				m.net.quantize()
			}
			err = more(w)
		}
	}
	if err == nil {
		_, err = io.Copy(sum, io.NewSectionReader(f, 0, info.Size()))
	}
	if err != nil {
		return badFile(dir, weightsFile, remedyCopy+", with the "+configFile+" it came with", err)
	}
	return nil
}

// weights reads tensors by name; after an error it reads no more and keeps the error.
type weights struct {
	*tensors
	prefix string
	err    error
}

func (w *weights) get(name string, shape ...int) []float32 {
	if w.err != nil {
		return nil
	}
	var out []float32
	out, w.err = w.floats(w.prefix+name, shape...)
	return out
}

func (w *weights) norm(name string, hidden int) layerNorm {
	return layerNorm{w.get(name+".weight", hidden), w.get(name+".bias", hidden)}
}

// linear reads a layer of in inputs and out outputs, and packs its weight.
func (w *weights) linear(name string, in, out int) linear {
	weight, bias := w.get(name+".weight", out, in), w.get(name+".bias", out)
	if w.err != nil {
		return linear{}
	}
	return linear{depth: in, panels: matrix.Pack(nil, weight, in), bias: bias}
}

// attention packs the query, key and value layers into one. It multiplies the scale of the attention scores
// into the query layer.
func (w *weights) attention(name string, hidden, heads int) linear {
	var weight, bias []float32
	for _, part := range []string{"query", "key", "value"} {
		m, b := w.get(name+part+".weight", hidden, hidden), w.get(name+part+".bias", hidden)
		if part == "query" {
			scale := float32(1 / math.Sqrt(float64(hidden/heads)))
			for _, xs := range [][]float32{m, b} {
				for i := range xs {
					xs[i] *= scale
				}
			}
		}
		weight, bias = append(weight, m...), append(bias, b...)
	}
	if w.err != nil {
		return linear{}
	}
	return linear{depth: hidden, panels: matrix.Pack(nil, weight, hidden), bias: bias}
}

// read reads the weights of a BERT by their names in the library transformers.
func (n *network) read(w *weights) error {
	for _, prefix := range []string{"bert.", "roberta."} {
		if _, ok := w.by[prefix+"embeddings.word_embeddings.weight"]; ok {
			w.prefix = prefix
			defer func() { w.prefix = "" }()
		}
	}
	n.words = w.get("embeddings.word_embeddings.weight", n.Vocab, n.Hidden)
	n.places = w.get("embeddings.position_embeddings.weight", n.Places, n.Hidden)
	kinds := w.get("embeddings.token_type_embeddings.weight", n.Kinds, n.Hidden)
	for i := 0; i < n.Places && w.err == nil; i++ {
		add(n.places[i*n.Hidden:(i+1)*n.Hidden], kinds)
	}
	if w.err == nil {
		n.places = n.places[n.unplaced()*n.Hidden:]
	}
	if n.Kinds > 1 && w.err == nil {
		n.second = kinds[n.Hidden:]
		for i, x := range kinds[:n.Hidden] {
			n.second[i] -= x
		}
	}
	n.norm = w.norm("embeddings.LayerNorm", n.Hidden)
	for i := 0; i < n.Layers && w.err == nil; i++ {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		n.layers = append(n.layers, layer{
			qkv:      w.attention(at+"attention.self.", n.Hidden, n.Heads),
			out:      w.linear(at+"attention.output.dense", n.Hidden, n.Hidden),
			inner:    w.linear(at+"intermediate.dense", n.Hidden, n.Inner),
			outer:    w.linear(at+"output.dense", n.Inner, n.Hidden),
			attended: w.norm(at+"attention.output.LayerNorm", n.Hidden),
			fed:      w.norm(at+"output.LayerNorm", n.Hidden),
		})
	}
	return w.err
}

// quantize replaces the weights by 8-bit codes. The inputs of the layers after a norm have a few large columns,
// which cause half of the error of the vectors; it finds these by encoding pieces from all over the vocabulary.
func (n *network) quantize() {
	const pieces = 256
	s := new(scratch)
	for i := range pieces {
		s.ids = append(s.ids, int32(i*n.Vocab/pieces))
		if len(s.ids)%min(pieces/2, n.Places-n.unplaced()) == 0 || i == pieces-1 {
			s.ends, s.seconds = append(s.ends, len(s.ids)), append(s.seconds, len(s.ids))
		}
	}
	for i := range n.layers {
		n.layers[i].qkv.peaks, n.layers[i].inner.peaks = make([]float32, n.Hidden), make([]float32, n.Hidden)
	}
	n.forward(s)
	for i := range n.layers {
		l := &n.layers[i]
		for _, m := range []*linear{&l.qkv, &l.out, &l.inner, &l.outer} {
			m.codes = matrix.Quantize(m.panels, m.depth, m.peaks)
			m.panels, m.peaks = nil, nil
		}
	}
}

// A safetensors file consists of the length of the header in eight bytes, the header as JSON, and the tensors'
// numbers, little-endian (https://github.com/huggingface/safetensors, "Format").
const (
	lengthBytes = 8
	maxHeader   = 16 << 20 // in bytes; MiniLM's header has eleven thousand
)

// tensors reads the tensors of a safetensors file on demand.
type tensors struct {
	data io.ReaderAt
	from int64 // offset of the first number in the file
	by   map[string]tensor
}

type tensor struct {
	Type  string   `json:"dtype"`
	Shape []int64  `json:"shape"`
	Range [2]int64 `json:"data_offsets"`
}

// width returns the number of bytes per number, 0 for a type that cannot be read.
func (t tensor) width() int64 {
	switch t.Type {
	case "F32":
		return 4
	case "F16", "BF16":
		return 2
	}
	return 0
}

// openTensors reads the header of a file of size bytes. Its memory is proportional to the header.
func openTensors(data io.ReaderAt, size int64) (*tensors, error) {
	var length [lengthBytes]byte
	if _, err := data.ReadAt(length[:], 0); err != nil {
		return nil, fmt.Errorf("the file has no header: %w", err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n) > size-lengthBytes {
		return nil, fmt.Errorf("the header has %d bytes, the file %d: it is cut off, or no safetensors file", n, size)
	}
	header := make([]byte, n)
	if _, err := data.ReadAt(header, lengthBytes); err != nil {
		return nil, fmt.Errorf("reading the header: %w", err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(header, &raw); err != nil {
		return nil, fmt.Errorf("the header is not JSON: %w", err)
	}
	delete(raw, "__metadata__")
	f := &tensors{data: data, from: lengthBytes + int64(n), by: make(map[string]tensor, len(raw))}
	end := int64(0)
	for name, r := range raw {
		var t tensor
		if err := json.Unmarshal(r, &t); err != nil {
			return nil, fmt.Errorf("the header of tensor %q: %w", name, err)
		}
		if lo, hi := t.Range[0], t.Range[1]; lo < 0 || hi < lo {
			return nil, fmt.Errorf("tensor %q has the data_offsets %d and %d, want 0 or more in ascending order", name, lo, hi)
		} else if hi > size-f.from {
			return nil, fmt.Errorf("tensor %q ends at byte %d of %d: the file is cut off", name, hi, size-f.from)
		}
		f.by[name], end = t, max(end, t.Range[1])
	}
	if end < size-f.from { // the format allows no such bytes, and they would change the model's name
		return nil, fmt.Errorf("%d bytes follow the last tensor", size-f.from-end)
	}
	return f, nil
}

// floats reads a tensor, which must have the given shape.
func (f *tensors) floats(name string, shape ...int) ([]float32, error) {
	t, ok := f.by[name]
	if !ok {
		return nil, fmt.Errorf("tensor %q is missing", name)
	}
	if t.width() == 0 {
		return nil, fmt.Errorf("tensor %q has the type %q, want F32, F16 or BF16", name, t.Type)
	}
	if !slices.EqualFunc(t.Shape, shape, func(a int64, b int) bool { return a == int64(b) }) {
		return nil, fmt.Errorf("tensor %q has the shape %v, %s wants %v", name, t.Shape, configFile, shape)
	}
	n := int64(1)
	for _, s := range shape {
		n *= int64(s) // cannot overflow: config.check limits the factors
	}
	if n*t.width() != t.Range[1]-t.Range[0] {
		return nil, fmt.Errorf("tensor %q of shape %v has %d bytes, want %d", name, t.Shape, t.Range[1]-t.Range[0], n*t.width())
	}
	out := make([]float32, n)
	if err := f.read(out, t); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	return out, nil
}

// read fills out with the numbers of t, all of which must be finite.
func (f *tensors) read(out []float32, t tensor) error {
	in := io.NewSectionReader(f.data, f.from+t.Range[0], t.Range[1]-t.Range[0])
	width := int(t.width())
	buf := make([]byte, 1<<16)
	for len(out) > 0 {
		part := buf[:min(len(buf), len(out)*width)]
		if _, err := io.ReadFull(in, part); err != nil {
			return err
		}
		decode(out[:len(part)/width], part, t.Type)
		for _, x := range out[:len(part)/width] {
			if x-x != 0 {
				return errors.New("it contains infinite numbers or NaN")
			}
		}
		out = out[len(part)/width:]
	}
	return nil
}

func decode(out []float32, b []byte, kind string) {
	for i := range out {
		switch kind {
		case "F32":
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		case "BF16":
			out[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16)
		default:
			out[i] = half(binary.LittleEndian.Uint16(b[2*i:]))
		}
	}
}

// half returns the value of an IEEE 754 half-precision number.
func half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 0: // zero or subnormal: a multiple of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
	case 31:
		return math.Float32frombits(sign | 255<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
