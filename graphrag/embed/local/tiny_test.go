// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// The tiny model is embedtest's.
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
	check.OK(t, embedtest.WriteBERT(dir))
	return dir
}

// tinyPieces is its vocabulary, by number.
func tinyPieces(t testing.TB) []string {
	t.Helper()
	b := check.Of(os.ReadFile(filepath.Join(tiny(t), vocabFile))).OK(t)
	return strings.Split(string(b), "\n")
}

// array is a tensor in a test.
type array struct {
	shape  []int
	values []float64
}

// tinyWeights are its tensors, read from their definition.
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

func mustOpen(t testing.TB, dir string) *Encoder {
	t.Helper()
	e := check.Of(Open(dir, Options{})).OK(t)
	return e
}
