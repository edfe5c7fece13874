// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math"
	"slices"
)

// hashed embeds texts by feature hashing (Weinberger and others, ICML 2009): each word
// adds its weight to a few of the components, with signs. It stands in for a model
// whose vectors are as long, at a thousandth of its time.
type hashed struct {
	idf []float32 // of words, by the first bits of their hash
}

const (
	dim       = 384
	placesOf  = 4 // components that a word adds to
	idfBits   = 16
	sampled   = 4000 // passages that frequencies are counted in
	modelName = "hashed words 384 v1"
)

// newHashed counts how frequent words are in the first passages.
func newHashed(w *world) *hashed {
	n := min(sampled, w.Passages)
	in := make([]float32, 1<<idfBits)
	for i := range n {
		for _, h := range slices.Compact(hashes(w.passage(i).Text)) {
			in[h>>(64-idfBits)]++
		}
	}
	for i, df := range in {
		in[i] = float32(math.Log(float64(n+1) / float64(df+1)))
	}
	return &hashed{in}
}

// hashes are those of the words of a text, sorted: FNV-1a of the small letters.
func hashes(text string) []uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	out := make([]uint64, 0, 128)
	h := uint64(offset)
	for i := range len(text) + 1 {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
			fallthrough
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 0x80:
			h = (h ^ uint64(c)) * prime
		case h != offset:
			r := rng(h)
			out = append(out, r.next())
			h = offset
		}
	}
	slices.Sort(out)
	return out
}

// embed writes the vector of a text over row, which is all zero.
func (e *hashed) embed(text string, row []float32) {
	all := hashes(text)
	for i := 0; i < len(all); {
		h, first := all[i], i
		for i++; i < len(all) && all[i] == h; i++ {
		}
		weight := e.idf[h>>(64-idfBits)]
		if n := i - first; n > 1 {
			weight *= 1 + float32(math.Log(float64(n)))
		}
		r := rng(h)
		for range placesOf {
			x := r.next()
			sign := float32(int32(x&1)*2 - 1)
			row[x>>32*dim>>32] += sign * weight
		}
	}
	var norm float32
	for _, c := range row {
		norm += c * c
	}
	if norm == 0 {
		return
	}
	norm = float32(1 / math.Sqrt(float64(norm)))
	for i := range row {
		row[i] *= norm
	}
}

// Name and Dim make it an embed.Model.
func (e *hashed) Name() string { return modelName }
func (e *hashed) Dim() int     { return dim }

// EmbedDocuments implements embed.Embedder.
func (e *hashed) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	rows, flat := make([][]float32, len(texts)), make([]float32, dim*len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows[i] = flat[i*dim : (i+1)*dim : (i+1)*dim]
		e.embed(text, rows[i])
	}
	return rows, ctx.Err()
}

// EmbedQuery implements embed.Embedder.
func (e *hashed) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	row := make([]float32, dim)
	e.embed(text, row)
	return row, ctx.Err()
}
