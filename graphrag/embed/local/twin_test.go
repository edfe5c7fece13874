// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"math"
)

// twin is BERT in float64, written from its definition: a list of numbers for each
// token, and nothing packed, batched or reordered.
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

// norm adds y to x and normalizes.
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

// attend is softmax(QKᵀ/√d)V, head by head.
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
