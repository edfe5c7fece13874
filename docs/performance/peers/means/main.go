//go:build linux

// Command means measures k-means for .ci/peers means: see the file run.
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"

	"github.com/wildgraph/wildgraph/graphrag/cluster"
)

// What is clustered; peers.py has the same numbers.
const (
	rows, dim, k = 200_000, 384, 200
	iterations   = 20
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "means:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: means VECTORS ROUND; round 0 writes VECTORS")
	}
	round, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	if round == 0 {
		data, err := binary.Append(nil, binary.LittleEndian, generate())
		if err != nil {
			return err
		}
		return os.WriteFile(args[0], data, 0o644)
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	vectors := make([]float32, rows*dim)
	if _, err := binary.Decode(data, binary.LittleEndian, vectors); err != nil {
		return err
	}
	return measure(ctx, vectors, round)
}

// generate returns unit vectors around 1,000 centres in 32 latent dimensions, as
// embeddings of text lie.
func generate() []float32 {
	const latent, centres = 32, 1000
	rng := rand.New(rand.NewPCG(dim, 1))
	normal := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	centre, basis := normal(centres*latent), normal(latent*dim)
	vectors := make([]float32, rows*dim)
	for i := range rows {
		c, v, squares := rng.IntN(centres), vectors[i*dim:(i+1)*dim], 0.0
		for l := range latent {
			z := centre[c*latent+l] + .5*float32(rng.NormFloat64())
			for j, b := range basis[l*dim : (l+1)*dim] {
				v[j] += z * b
			}
		}
		for _, x := range v {
			squares += float64(x) * float64(x)
		}
		for j := range v {
			v[j] /= float32(math.Sqrt(squares))
		}
	}
	return vectors
}

// figure is one line.
type figure struct {
	Set   string  `json:"set"`
	Who   string  `json:"who"`
	Round int     `json:"round"`
	What  string  `json:"what"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
	Plain bool    `json:"plain,omitempty"`
}

func measure(ctx context.Context, vectors []float32, round int) error {
	var start []float32
	for c := range k {
		start = append(start, vectors[c*(rows/k)*dim:][:dim]...)
	}
	before := cpu()
	c, err := cluster.KMeans(ctx, vectors, dim, k, cluster.KMeansOptions{Start: start, MaxIterations: iterations, Tolerance: -1, Workers: 1})
	took := cpu() - before
	if err != nil {
		return err
	}
	f := figure{Set: fmt.Sprintf("%d vectors of %d, %d clusters", rows, dim, k), Who: "wildgraph", Round: round}
	f.What, f.Value, f.Unit = fmt.Sprintf("%d iterations", c.Iterations), took, "CPU s"
	show(f)
	f.What, f.Value, f.Unit, f.Plain = "inertia", c.Inertia, "", true
	show(f)
	return nil
}

func show(f figure) {
	line, _ := json.Marshal(f)
	fmt.Println(string(line))
}

// cpu is the CPU time used so far, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
