// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A safetensors file is the length of the header as eight bytes, the header as JSON, and the numbers of the
// tensors, little-endian (https://github.com/huggingface/safetensors, "Format").
const (
	lengthBytes = 8
	maxHeader   = 16 << 20 // bytes; a MiniLM's has eleven thousand
)

// tensors are the numbers of a file, read when they are asked for.
type tensors struct {
	data io.ReaderAt
	from int64 // where the numbers begin
	by   map[string]tensor
}

type tensor struct {
	Type  string   `json:"dtype"`
	Shape []int64  `json:"shape"`
	Range [2]int64 `json:"data_offsets"`
}

// width is how many bytes a number has; 0 is a type that is not read here.
func (t tensor) width() int64 {
	switch t.Type {
	case "F32":
		return 4
	case "F16", "BF16":
		return 2
	}
	return 0
}

// openTensors reads the header of a file of size bytes. It takes memory in proportion to what it reads.
func openTensors(data io.ReaderAt, size int64) (*tensors, error) {
	var length [lengthBytes]byte
	if _, err := data.ReadAt(length[:], 0); err != nil {
		return nil, fmt.Errorf("it has no header: %w", err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n) > size-lengthBytes {
		return nil, fmt.Errorf("the header has %d bytes, the file %d: it is cut off, or no safetensors file", n, size)
	}
	header := make([]byte, n)
	if _, err := data.ReadAt(header, lengthBytes); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(header, &raw); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	delete(raw, "__metadata__")
	f := &tensors{data: data, from: lengthBytes + int64(n), by: make(map[string]tensor, len(raw))}
	end := int64(0)
	for name, r := range raw {
		var t tensor
		if err := json.Unmarshal(r, &t); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if lo, hi := t.Range[0], t.Range[1]; lo < 0 || hi < lo {
			return nil, fmt.Errorf("tensor %q lies from %d to %d", name, lo, hi)
		} else if hi > size-f.from {
			return nil, fmt.Errorf("tensor %q ends at byte %d of %d: the file is cut off", name, hi, size-f.from)
		}
		f.by[name], end = t, max(end, t.Range[1])
	}
	if end < size-f.from { // the format has no such bytes, and all would be read for the name
		return nil, fmt.Errorf("%d bytes stand behind its tensors", size-f.from-end)
	}
	return f, nil
}

// floats reads a tensor of the shape that the model must have.
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
		n *= int64(s) // within the bounds of a config: no overflow
	}
	if n*t.width() != t.Range[1]-t.Range[0] {
		return nil, fmt.Errorf("tensor %q of shape %v has %d bytes", name, t.Shape, t.Range[1]-t.Range[0])
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
				return errors.New("it holds infinities or no numbers")
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

// half is a number of IEEE 754's 16 bits.
func half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 0: // a multiple of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
	case 31:
		return math.Float32frombits(sign | 255<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
