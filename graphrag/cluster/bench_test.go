// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cluster

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	benchDim        = 384
	benchK          = 200
	benchIterations = 20
)

// benchRows is the number of vectors, with -short only enough to run.
func benchRows() int {
	if testing.Short() {
		return 4_000
	}
	return 200_000
}

// clustered returns unit vectors around 1,000 centres in 32 latent dimensions,
// as embeddings of text lie.
var clustered = sync.OnceValue(func() []float32 {
	const latent, centres = 32, 1000
	rng := rand.New(rand.NewPCG(384, 1))
	centre, basis := randomRows(rng, centres*latent, 1), randomRows(rng, latent*benchDim, 1)
	vectors := make([]float32, benchRows()*benchDim)
	for i := range benchRows() {
		c, v := rng.IntN(centres), vectors[i*benchDim:(i+1)*benchDim]
		for l := range latent {
			z := centre[c*latent+l] + .5*float32(rng.NormFloat64())
			for j, b := range basis[l*benchDim : (l+1)*benchDim] {
				v[j] += z * b
			}
		}
	}
	return unit(vectors, benchDim)
})

// BenchmarkKMeans runs 20 iterations from given centroids, on one core. Compare cpu-s/op:
//
//	go test -run '^$' -bench KMeans -benchtime 3x ./graphrag/cluster
func BenchmarkKMeans(b *testing.B) {
	vectors := clustered()
	var start []float32
	for c := range benchK {
		start = append(start, vectors[c*(benchRows()/benchK)*benchDim:][:benchDim]...)
	}
	opts, _ := KMeansOptions{MaxIterations: benchIterations, Tolerance: -1, Workers: 1}.resolve()
	for _, k := range []struct {
		name    string
		kernels kernels
	}{{"fastest", fastest()}, {"portable", portable()}} {
		b.Run(k.name, func(b *testing.B) {
			b.ReportAllocs()
			began := cpuTime()
			for b.Loop() {
				l := newLloyd(vectors, benchDim, benchK, opts)
				l.kernels = k.kernels
				l.restart(start)
				c, err := l.run(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(c.Inertia, "inertia")
			}
			b.ReportMetric((cpuTime()-began).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// cpuTime returns what the process has used, in all threads: unlike the clock,
// it can be compared while others use the machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkScores is the inner loop alone: a tile of rows against all centroids.
func BenchmarkScores(b *testing.B) {
	for name, k := range kernelSets() {
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			n := roundUp(benchK, k.width)
			tile, panels, offsets := randomRows(rng, k.height*benchDim, 1), randomRows(rng, n*benchDim, 1), make([]float32, n)
			out := make([]float32, k.height*n)
			began := cpuTime()
			for b.Loop() {
				k.scores(out, tile, panels, offsets)
			}
			used := (cpuTime() - began).Seconds()
			b.ReportMetric(2*float64(k.height*benchK*benchDim)*float64(b.N)/used/1e9, "GFLOP/s")
		})
	}
}

// BenchmarkMixture selects among mixtures of up to 49 components for 1,000 vectors, as RAPTOR does
// for a level of so many nodes.
func BenchmarkMixture(b *testing.B) {
	vectors := blobs(rand.New(rand.NewPCG(1, 1)), 1000, 10, 20, .3)
	for b.Loop() {
		m, err := SelectMixture(b.Context(), vectors, 10, 0, MixtureOptions{Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(m.K), "components")
	}
}

func BenchmarkPlusPlus(b *testing.B) {
	opts, _ := KMeansOptions{Workers: 1}.resolve()
	l := newLloyd(clustered(), benchDim, benchK, opts)
	for b.Loop() {
		if _, err := l.plusPlus(b.Context(), rand.New(rand.NewPCG(1, 1))); err != nil {
			b.Fatal(err)
		}
	}
}

// unit returns a copy of rows scaled to length 1; zeros stay zeros.
func unit(rows []float32, dim int) []float32 {
	scaled := make([]float32, len(rows))
	for i := 0; i < len(rows); i += dim {
		if length := norm(rows[i : i+dim]); length > 0 {
			for j, c := range rows[i : i+dim] {
				scaled[i+j] = float32(float64(c) / length)
			}
		}
	}
	return scaled
}
