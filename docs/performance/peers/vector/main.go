//go:build linux

// Command vector measures dense search for .ci/peers vector: see the file run.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
)

const (
	dim     = 384
	asked   = 1000
	k       = 10
	latent  = 32
	centres = 1000
)

// generate writes unit vectors around centres in a few latent dimensions, like embeddings of text, and then
// the queries.
func generate(data string, rows int) error {
	rng := rand.New(rand.NewPCG(dim, 1))
	normal := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	centre, basis := normal(centres*latent), normal(latent*dim)
	file, err := os.Create(data + ".f32")
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	v, b := make([]float32, dim), make([]byte, 4*dim)
	for range rows + asked {
		clear(v)
		c := rng.IntN(centres)
		for l := range latent {
			z := centre[c*latent+l] + .5*float32(rng.NormFloat64())
			for j, x := range basis[l*dim : (l+1)*dim] {
				v[j] += z * x
			}
		}
		sum := 0.
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		for j, x := range v {
			binary.LittleEndian.PutUint32(b[4*j:], math.Float32bits(float32(float64(x)/math.Sqrt(sum))))
		}
		out.Write(b)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// load reads rows and queries.
func load(data string) (rows, queries [][]float32, err error) {
	file, err := os.Open(data + ".f32")
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	b := make([]byte, 4*dim)
	for {
		if _, err := io.ReadFull(in, b); err == io.EOF {
			break
		} else if err != nil {
			return nil, nil, err
		}
		v := make([]float32, dim)
		for j := range v {
			v[j] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*j:]))
		}
		rows = append(rows, v)
	}
	n := len(rows) - asked
	if n < 1 {
		return nil, nil, fmt.Errorf("%s.f32 holds no rows", data)
	}
	return rows[:n], rows[n:], nil
}
