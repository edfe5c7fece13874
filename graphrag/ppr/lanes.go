// SPDX-License-Identifier: Apache-2.0

package ppr

// lanes is the number of queries of a batch that share the reading of an arc.
// Their directions at one node fill a cache line.
const lanes = 16

type lane = [lanes]float64

// cacheArcs is the number of arcs whose values are still in the first cache when
// the second half of the lanes is read.
const cacheArcs = 128

// gatherLanes sets sum to the sums of p over the arcs lo to hi.
func gatherLanes[W, P float32 | float64](a arcs[W], lo, hi int64, p [][lanes]P, used int, sum *lane) {
	targets := a.targets[lo:hi]
	var weights []W
	if a.weights != nil {
		weights = a.weights[lo:hi]
	}
	if wide {
		gatherWide(targets, weights, p, sum)
		return
	}
	gatherHalves(targets, weights, p, used, sum)
}

// gatherHalves adds up eight lanes after the other, as long as their values are in the
// cache.
func gatherHalves[W, P float32 | float64](targets []int32, weights []W, p [][lanes]P, used int, sum *lane) {
	*sum = lane{}
	for lo := 0; lo < len(targets); lo += cacheArcs {
		hi := min(lo+cacheArcs, len(targets))
		var part []W
		if weights != nil {
			part = weights[lo:hi]
		}
		for first := 0; first < used; first += lanes / 2 {
			gatherHalf(targets[lo:hi], part, p, first, (*[lanes / 2]float64)(sum[first:]))
		}
	}
}

// prefetchRows is the number of rows whose values are fetched from memory together.
const prefetchRows = 16

// ahead has the lanes of the classes before the next rows fetched, at every first of
// [prefetchRows] of them.
func ahead[W, P float32 | float64](b *batch, a arcs[W], c int, p [][lanes]P) {
	if c%prefetchRows != 0 {
		return
	}
	if wide { // while these are added up, the next ones come
		c += prefetchRows
	}
	for v := c; v < min(c+prefetchRows, len(p)); v++ {
		b.sink += prefetch(a.targets[a.offsets[v]:a.middle[v]], p)
	}
}

// prefetch brings the lanes of the targets into the cache. Where it can only read, in so
// short a loop many reads are under way at once; the sum has no meaning, and whoever keeps
// it keeps the reads from being optimised away.
func prefetch[P float32 | float64](targets []int32, p [][lanes]P) float64 {
	if wide {
		fetch(targets, p)
		return 0
	}
	var low, high P
	for _, t := range targets[:min(cacheArcs, len(targets))] {
		low += p[t][0]
		high += p[t][lanes/2]
	}
	return float64(low + high)
}

// gatherHalf adds up eight lanes of p from first on at the targets; the sums stay in
// registers.
func gatherHalf[W, P float32 | float64](targets []int32, weights []W, p [][lanes]P, first int, sum *[lanes / 2]float64) {
	s0, s1, s2, s3 := sum[0], sum[1], sum[2], sum[3]
	s4, s5, s6, s7 := sum[4], sum[5], sum[6], sum[7]
	if weights == nil {
		for _, t := range targets {
			x := (*[lanes / 2]P)(p[t][first:])
			s0 += float64(x[0])
			s1 += float64(x[1])
			s2 += float64(x[2])
			s3 += float64(x[3])
			s4 += float64(x[4])
			s5 += float64(x[5])
			s6 += float64(x[6])
			s7 += float64(x[7])
		}
	} else {
		weights = weights[:len(targets)]
		for i, t := range targets {
			x, w := (*[lanes / 2]P)(p[t][first:]), float64(weights[i])
			s0 += w * float64(x[0])
			s1 += w * float64(x[1])
			s2 += w * float64(x[2])
			s3 += w * float64(x[3])
			s4 += w * float64(x[4])
			s5 += w * float64(x[5])
			s6 += w * float64(x[6])
			s7 += w * float64(x[7])
		}
	}
	*sum = [lanes / 2]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}
