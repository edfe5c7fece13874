// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"sync"
)

// stream is the generator of resample r. Seed and number are mixed (the
// finaliser of splitmix64), so that neighbours have nothing in common.
func stream(seed uint64, r int) rand.PCG {
	high := mix(seed)
	return *rand.NewPCG(high, mix(high+uint64(r)))
}

func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// draw fills drawn with numbers in 0..n-1, each as likely (Lemire 2019: a
// 32-bit draw times n, the few draws that would favour some numbers thrown
// away). One call of the generator serves two numbers.
func draw(drawn []int32, n int, rng rand.PCG) {
	size := uint64(n)
	unfair := uint32(-uint32(n)) % uint32(n)
	for i := 0; i < len(drawn); {
		x := rng.Uint64()
		if product := (x & 0xffffffff) * size; uint32(product) >= unfair {
			drawn[i] = int32(product >> 32)
			i++
		}
		if product := (x >> 32) * size; i < len(drawn) && uint32(product) >= unfair {
			drawn[i] = int32(product >> 32)
			i++
		}
	}
}

// parallel splits the resamples among the workers.
func (o Options) parallel(do func(from, to int)) {
	workers := min(cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), o.Resamples)
	if workers == 1 {
		do(0, o.Resamples)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { do(o.Resamples*w/workers, o.Resamples*(w+1)/workers) })
	}
	wg.Wait()
}
