//go:build linux

// Command vector measures dense search for .ci/peers vector: see the file run.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/vector"
	"github.com/wildgraph/wildgraph/internal/display"
)

const (
	dim     = 384
	asked   = 1000
	k       = 10
	latent  = 32
	centres = 1000
)

// generate writes rows and then queries to a file: unit vectors around random centres in a subspace of few
// dimensions, like embeddings of texts.
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

// load reads the rows and the queries that generate wrote.
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

func main() { figure.Main("vector", run) }

func run(_ context.Context, args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: vector generate DATA ROWS | exact DATA ROUND")
	}
	number, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	switch args[0] {
	case "generate":
		return generate(args[1], number)
	case "exact":
		return exact(args[1], number)
	}
	return fmt.Errorf("no command is called %q: want generate or exact", args[0])
}

// least calls do in some passes and returns the least CPU time of a pass, in seconds.
func least(passes int, do func() error) (float64, error) {
	best := 0.
	for i := range passes {
		start := figure.CPU()
		if err := do(); err != nil {
			return 0, err
		}
		if took := figure.CPU() - start; i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// recall returns the share of the ten nearest vectors that was found.
func recall(data string, found [][]rank.Scored[int32]) (float64, error) {
	truth, err := os.ReadFile(data + ".truth")
	if err != nil {
		return 0, err
	}
	hits := 0
	for q, list := range found {
		for i := range k {
			id := int32(binary.LittleEndian.Uint32(truth[4*(q*k+i):]))
			for _, f := range list {
				if f.ID == id {
					hits++
				}
			}
		}
	}
	return float64(hits) / float64(k*len(found)), nil
}

// each searches for the queries one at a time.
func each(x *vector.Index, queries [][]float32, p vector.Params) ([][]rank.Scored[int32], error) {
	found := make([][]rank.Scored[int32], len(queries))
	for i, q := range queries {
		var err error
		if found[i], err = x.SearchWith(q, p, nil); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func exact(data string, round int) error {
	rows, queries, err := load(data)
	if err != nil {
		return err
	}
	f := figure.Figure{Set: display.Digits(len(rows)) + " rows", Who: figure.Us, Round: round}
	x, err := vector.New(vector.Options{Dim: dim, Cosine: true, Workers: 1})
	if err != nil {
		return err
	}
	build, err := least(1, func() error { return x.Add(rows...) })
	if err != nil {
		return err
	}
	f.Show("exact, build with codes", build, "CPU s")
	rows = nil
	some := queries[:100]
	one, err := least(3, func() error { _, err := each(x, some, vector.Params{K: k}); return err })
	if err != nil {
		return err
	}
	f.Show("one query, exact", 1e3*one/float64(len(some)), "CPU ms")
	found, err := each(x, queries, vector.Params{K: k})
	if err != nil {
		return err
	}
	share, err := recall(data, found)
	if err != nil {
		return err
	}
	f.Show("recall@10, exact", share, "")
	return nil
}
