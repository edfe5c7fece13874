// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// wide says that the processor adds up many lanes at once, and widest, all of them.
var (
	wide   = cpu.X86.HasAVX2
	widest = cpu.X86.HasAVX512F
)

// gatherWide sets sum to the sums of p over the targets, as gatherHalf does.
func gatherWide[W, P float32 | float64](targets []int32, weights []W, p [][lanes]P, sum *lane) {
	if len(targets) == 0 {
		*sum = lane{}
		return
	}
	first, n, from := unsafe.SliceData(targets), len(targets), unsafe.Pointer(unsafe.SliceData(p))
	w := unsafe.Pointer(unsafe.SliceData(weights))
	double, doubleWeights := unsafe.Sizeof(P(0)) == 8, unsafe.Sizeof(W(0)) == 8
	if widest {
		gather512(double, doubleWeights, first, w, n, from, sum)
	} else {
		gather256(double, doubleWeights, first, w, n, from, sum)
	}
}

func gather512(double, doubleWeights bool, first *int32, w unsafe.Pointer, n int, from unsafe.Pointer, sum *lane) {
	switch {
	case double && w == nil:
		sum64AVX512(first, w, n, from, sum)
	case double && !doubleWeights:
		sum64by32AVX512(first, w, n, from, sum)
	case double:
		sum64by64AVX512(first, w, n, from, sum)
	case w == nil:
		sum32AVX512(first, w, n, from, sum)
	case !doubleWeights:
		sum32by32AVX512(first, w, n, from, sum)
	default:
		sum32by64AVX512(first, w, n, from, sum)
	}
}

func gather256(double, doubleWeights bool, first *int32, w unsafe.Pointer, n int, from unsafe.Pointer, sum *lane) {
	switch {
	case double && w == nil:
		sum64AVX2(first, w, n, from, sum)
	case double && !doubleWeights:
		sum64by32AVX2(first, w, n, from, sum)
	case double:
		sum64by64AVX2(first, w, n, from, sum)
	case w == nil:
		sum32AVX2(first, w, n, from, sum)
	case !doubleWeights:
		sum32by32AVX2(first, w, n, from, sum)
	default:
		sum32by64AVX2(first, w, n, from, sum)
	}
}

// fetch asks for what is kept for the targets, and waits for none. P is a float, or the
// lanes of one.
func fetch[P any](targets []int32, p []P) {
	if len(targets) == 0 {
		return
	}
	switch first, from := unsafe.SliceData(targets), unsafe.Pointer(unsafe.SliceData(p)); unsafe.Sizeof(p[0]) {
	case 4:
		fetch4(first, len(targets), from)
	case 8:
		fetch8(first, len(targets), from)
	case 64:
		fetch64(first, len(targets), from)
	case 128:
		fetch128(first, len(targets), from)
	}
}

//go:noescape
func sum64AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum64by32AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum64by64AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum32AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum32by32AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum32by64AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum64AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum64by32AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum64by64AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum32AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum32by32AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func sum32by64AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)

//go:noescape
func fetch4(targets *int32, n int, p unsafe.Pointer)

//go:noescape
func fetch8(targets *int32, n int, p unsafe.Pointer)

//go:noescape
func fetch64(targets *int32, n int, p unsafe.Pointer)

//go:noescape
func fetch128(targets *int32, n int, p unsafe.Pointer)
