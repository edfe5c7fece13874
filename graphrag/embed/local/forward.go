// SPDX-License-Identifier: Apache-2.0

package local

import (
	"math"

	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
)

// network is BERT: embeddings, then layers of attention and feed-forward, each followed by its residual and
// norm (Devlin and others 2019, section 3; Vaswani and others 2017, section 3).
type network struct {
	config
	kernels
	words, places []float32 // embeddings: a row of Hidden numbers per piece and per position
	second        []float32 // what the embedding of a token of the second segment adds to the first's
	norm          layerNorm
	layers        []layer
}

type layer struct {
	qkv, out, inner, outer linear
	attended, fed          layerNorm
}

// linear is a layer: its weight, packed by package matrix as floats or as 8-bit codes, and its bias. If peaks
// is not nil, it collects the largest absolute value of each input column.
type linear struct {
	depth  int
	panels []float32
	codes  *matrix.Codes
	bias   []float32
	peaks  []float32
}

type layerNorm struct{ gain, bias []float32 }

// scratch holds the buffers of a worker. Matrices have room for whole tiles that begin at any token.
type scratch struct {
	letterReader
	ids                 []int32
	ends, seconds       []int // ends of the texts in ids, and starts of their second segments
	x, y, qkv, ctx, mid []float32
	keys, values        []float32
	scores, heads       []float32
	zeros               [matrix.Panel]float32
	rows                matrix.Rows
}

// grow returns a slice of n numbers: s if its capacity suffices, else a new one.
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

// embed writes the sum of the piece and position embeddings of each token to s.x, normalized. The positions
// contain the embedding of the first segment.
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

// residual adds the input base of a layer to its output x, and normalizes each row.
func (n *network) residual(x, base []float32, m layerNorm, rows int) {
	for r := range rows {
		n.normalize(x[r*n.Hidden:(r+1)*n.Hidden], base[r*n.Hidden:], m.gain, m.bias, n.eps())
	}
}

func (n *network) eps() float32 { return float32(n.Eps) }

// queryRows is the number of query tokens processed at a time, whose scores fit into the first-level cache.
const queryRows = 4 * matrix.TileRows

// attend computes the self-attention of one text, head by head. The query weights contain the scores' scale.
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
				copy(s.ctx[(from+at+r)*n.Hidden+head*size:][:size], s.heads[r*size:])
			}
		}
	}
}

// packHead copies the keys and values of a head into panels. k begins at the first key; a token's value is
// stride/3 after its key.
func (s *scratch) packHead(k []float32, length, size, stride int) {
	clear(s.keys[length/matrix.Strip*matrix.Strip*size:])
	for i := range length {
		key, value := k[i*stride:][:size], k[i*stride+stride/3:][:size]
		to := s.keys[i/matrix.Strip*matrix.Strip*size+i%matrix.Strip:]
		for l, x := range key {
			to[l*matrix.Strip] = x
		}
		for p := 0; p < size; p += matrix.Strip {
			copy(s.values[p*length+i*matrix.Strip:][:matrix.Strip], value[p:])
		}
	}
}

// kernels are the inner loops of a forward pass except matrix products. The lengths of their arguments are
// multiples of matrix.Strip.
type kernels struct {
	// gelu replaces each x by x·Φ(x).
	gelu func(x []float32)
	// softmax replaces a row of scores by its softmax.
	softmax func(x []float32)
	// normalize scales x + base to mean 0 and variance 1, then applies gain and bias (Ba and others 2016).
	normalize func(x, base, gain, bias []float32, eps float32)
}

// portable returns the kernels in plain Go.
func portable() kernels { return kernels{gelu: gelu, softmax: softmax, normalize: normalize} }

// exp32 returns e^x for x ≤ 0, to two units in the last place: 2^n times the Taylor series of a remainder
// within ±ln(2)/2.
func exp32(x float32) float32 {
	x = max(x, expLeast)
	n := float32(math.RoundToEven(float64(x * log2e)))
	r := x - n*ln2High - n*ln2Low
	p := float32(1. / 5040)
	for _, c := range [...]float32{1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1} {
		p = p*r + c
	}
	return p * math.Float32frombits(uint32(127+int32(n))<<23)
}

const (
	expLeast = -80 // small enough to be 0 in a sum, without subnormal numbers, which are slow
	log2e    = 1.44269504
	ln2High  = 0.693359375 // few digits, so that products with small integers are exact
	ln2Low   = -2.12194440e-4
)

// gelu computes x·Φ(x) by half the complementary error function, in the approximation 7.1.26 of Abramowitz and
// Stegun, whose error is below 1.5e-7: with q = erfc(|x|/√2)/2, xΦ(x) is x − xq above zero and −|x|q below.
func gelu(x []float32) {
	for i, v := range x {
		z := float32(math.Abs(float64(v))) * (1 / math.Sqrt2)
		t := 1 / (1 + erfP*z)
		q := ((((erf5*t+erf4)*t+erf3)*t+erf2)*t + erf1) * t * exp32(-z*z)
		x[i] = max(v, 0) - float32(math.Abs(float64(v)))*q
	}
}

// Coefficients of formula 7.1.26, halved.
const (
	erfP = 0.3275911
	erf1 = 0.254829592 / 2
	erf2 = -0.284496736 / 2
	erf3 = 1.421413741 / 2
	erf4 = -1.453152027 / 2
	erf5 = 1.061405429 / 2
)

func softmax(x []float32) {
	most := x[0]
	for _, v := range x {
		most = max(most, v)
	}
	sum := float32(0)
	for i, v := range x {
		x[i] = exp32(v - most)
		sum += x[i]
	}
	scale := 1 / sum
	for i := range x {
		x[i] *= scale
	}
}

func normalize(x, base, gain, bias []float32, eps float32) {
	add(x, base)
	mean := total(x) / float32(len(x))
	var s [8]float32
	for at := 0; at < len(x); at += len(s) {
		for j, v := range x[at : at+len(s)] {
			s[j] += (v - mean) * (v - mean)
		}
	}
	scale := 1 / float32(math.Sqrt(float64(eight(s)/float32(len(x))+eps)))
	gain, bias = gain[:len(x)], bias[:len(x)]
	for i, v := range x {
		x[i] = (v-mean)*scale*gain[i] + bias[i]
	}
}

// total returns the sum of x. Eight partial sums lose fewer digits than one.
func total(x []float32) float32 {
	var s [8]float32
	for at := 0; at < len(x); at += len(s) {
		for j, v := range x[at : at+len(s)] {
			s[j] += v
		}
	}
	return eight(s)
}

func eight(s [8]float32) float32 {
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

// add adds the first len(to) numbers of from to the numbers of to.
func add(to, from []float32) {
	for i, x := range from[:len(to)] {
		to[i] += x
	}
}
