// SPDX-License-Identifier: Apache-2.0

package local

import (
	"math"

	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
)

// network is BERT: embeddings, then layers of attention and feed-forward, each with its residual and its
// norm behind (Devlin and others 2019, section 3; Vaswani and others 2017, section 3).
type network struct {
	config
	kernels
	words, places []float32 // hidden numbers for each piece and each place
	second        []float32 // offset of tokens of a second part from the first
	norm          layerNorm
	layers        []layer
}

type layer struct {
	qkv, out, inner, outer linear
	attended, fed          layerNorm
}

// linear is a weight, packed by package matrix as numbers or as codes, and its bias. Peaks, if
// they are asked for, become the largest sizes of the numbers that go in.
type linear struct {
	depth  int
	panels []float32
	codes  *matrix.Codes
	bias   []float32
	peaks  []float32
}

type layerNorm struct{ gain, bias []float32 }

// scratch is the memory of a worker. Matrices have rows for whole tiles that may begin at any token.
type scratch struct {
	letterReader
	ids                 []int32
	ends, seconds       []int // of the texts in ids, and of where their second parts begin
	x, y, qkv, ctx, mid []float32
	keys, values        []float32
	scores, heads       []float32
	zeros               [matrix.Panel]float32
	rows                matrix.Rows
}

// grow returns a slice of n numbers, s if it is long enough.
func grow(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

func tiles(n int) int { return (n + matrix.TileRows - 1) / matrix.TileRows * matrix.TileRows }

// apply writes weight·in + bias to out, for all rows of in.
func (s *scratch) apply(out, in []float32, m linear, rows int) {
	width := len(m.bias)
	if m.codes != nil {
		s.rows.Multiply(out, in, m.codes, m.bias, rows, width)
		return
	}
	if m.peaks != nil {
		for i, x := range in[:len(s.ids)*m.depth] {
			m.peaks[i%m.depth] = max(m.peaks[i%m.depth], float32(math.Abs(float64(x))))
		}
	}
	for p := 0; p < width; p += matrix.Panel {
		matrix.Multiply(out[p:], in, m.panels[p*m.depth:(p+matrix.Panel)*m.depth], m.bias[p:], rows, m.depth, width, m.depth)
	}
}

// forward encodes the texts in s.ids and leaves the vectors of their tokens in s.x.
func (n *network) forward(s *scratch) {
	tokens := len(s.ids)
	rows := tiles(tokens)
	room := rows + matrix.TileRows
	s.x, s.y, s.ctx = grow(s.x, room*n.Hidden), grow(s.y, room*n.Hidden), grow(s.ctx, room*n.Hidden)
	s.qkv, s.mid = grow(s.qkv, room*3*n.Hidden), grow(s.mid, room*n.Inner)
	n.embed(s)
	for i := range n.layers {
		l := &n.layers[i]
		s.apply(s.qkv, s.x, l.qkv, rows)
		from := 0
		for _, end := range s.ends {
			n.attend(s, from, end)
			from = end
		}
		s.apply(s.y, s.ctx, l.out, rows)
		n.residual(s.y, s.x, l.attended, tokens)
		s.apply(s.mid, s.y, l.inner, rows)
		n.gelu(s.mid[:rows*n.Inner])
		s.apply(s.x, s.mid, l.outer, rows)
		n.residual(s.x, s.y, l.fed, tokens)
	}
}

// embed writes piece and place of each token; the kind of the first segment is in the places.
func (n *network) embed(s *scratch) {
	from := 0
	for t, end := range s.ends {
		for i, id := range s.ids[from:end] {
			row := s.x[(from+i)*n.Hidden:][:n.Hidden]
			copy(row, n.words[int(id)*n.Hidden:])
			if from+i >= s.seconds[t] {
				add(row, n.second)
			}
			n.normalize(row, n.places[i*n.Hidden:], n.norm.gain, n.norm.bias, n.eps())
		}
		from = end
	}
	clear(s.x[len(s.ids)*n.Hidden:])
}

// residual adds the input of a step to its output, and normalizes each row.
func (n *network) residual(x, base []float32, m layerNorm, rows int) {
	for r := range rows {
		n.normalize(x[r*n.Hidden:(r+1)*n.Hidden], base[r*n.Hidden:], m.gain, m.bias, n.eps())
	}
}

func (n *network) eps() float32 { return float32(n.Eps) }

// queryRows is the number of tokens that ask at a time: their scores stay in the first cache.
const queryRows = 4 * matrix.TileRows

// attend lets the tokens of one text look at one another, head by head. The scale
// of the scores is in the weights of the queries.
func (n *network) attend(s *scratch, from, end int) {
	length, size := end-from, n.Hidden/n.Heads
	wide := (length + matrix.Panel - 1) / matrix.Panel * matrix.Panel
	s.keys, s.values = grow(s.keys, wide*size), grow(s.values, length*size)
	s.scores, s.heads = grow(s.scores, queryRows*wide), grow(s.heads, queryRows*size)
	stride := 3 * n.Hidden
	for head := range n.Heads {
		query := s.qkv[from*stride+head*size:]
		s.packHead(query[n.Hidden:], length, size, stride)
		for at := 0; at < length; at += queryRows {
			asking := min(queryRows, length-at)
			rows := tiles(asking)
			for p := 0; p < wide; p += matrix.Panel {
				matrix.Multiply(s.scores[p:], query[at*stride:], s.keys[p*size:(p+matrix.Panel)*size], s.zeros[:], rows, size, wide, stride)
			}
			for r := range asking {
				row := s.scores[r*wide : (r+1)*wide]
				for j := length; j < wide; j++ {
					row[j] = -math.MaxFloat32
				}
				n.softmax(row)
			}
			for p := 0; p < size; p += matrix.Panel {
				matrix.Multiply(s.heads[p:], s.scores, s.values[p*length:(p+matrix.Panel)*length], s.zeros[:], rows, length, size, wide)
			}
			for r := range asking {
				copyPanels(s.ctx[(from+at+r)*n.Hidden+head*size:][:size], s.heads[r*size:])
			}
		}
	}
}

// packHead lays out keys and values of a head as panels; k begins at the first key,
// and the values follow a third of the stride behind.
func (s *scratch) packHead(k []float32, length, size, stride int) {
	clear(s.keys[length/matrix.Strip*matrix.Strip*size:])
	const side = 4 // keys at a time: writes are adjacent
	for i := 0; i < length; i += side {
		to := s.keys[i/matrix.Strip*matrix.Strip*size+i%matrix.Strip:]
		if i+side > length {
			for ; i < length; i++ {
				for l, x := range k[i*stride : i*stride+size] {
					to[l*matrix.Strip] = x
				}
				to = to[1:]
			}
			break
		}
		k0, k1, k2, k3 := k[i*stride:][:size], k[(i+1)*stride:][:size], k[(i+2)*stride:][:size], k[(i+3)*stride:][:size]
		for l := range k0 {
			four := to[l*matrix.Strip:][:side]
			four[0], four[1], four[2], four[3] = k0[l], k1[l], k2[l], k3[l]
		}
	}
	for i := range length {
		value := k[i*stride+stride/3:][:size]
		for p := 0; p < size; p += matrix.Strip {
			*(*[matrix.Strip]float32)(s.values[p*length+i*matrix.Strip:]) = *(*[matrix.Strip]float32)(value[p:])
		}
	}
}

// copyPanels is copy for whole panels, as many as to has; small ones are a call of their own.
func copyPanels(to, from []float32) {
	for p := 0; p < len(to); p += matrix.Panel {
		*(*[matrix.Panel]float32)(to[p:]) = *(*[matrix.Panel]float32)(from[p:])
	}
}
