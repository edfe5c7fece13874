// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// wide says that the processor adds up all lanes at once.
var wide = cpu.X86.HasAVX512F

// gatherWide sets sum to the sums of p over the targets, as gatherHalf does.
func gatherWide[W, P float32 | float64](targets []int32, weights []W, p [][lanes]P, sum *lane) {
	if len(targets) == 0 {
		*sum = lane{}
		return
	}
	first, n, from := unsafe.SliceData(targets), len(targets), unsafe.Pointer(unsafe.SliceData(p))
	w := unsafe.Pointer(unsafe.SliceData(weights))
	switch double := unsafe.Sizeof(P(0)) == 8; {
	case double && w == nil:
		sum64AVX512(first, w, n, from, sum)
	case double && unsafe.Sizeof(W(0)) == 4:
		sum64by32AVX512(first, w, n, from, sum)
	case double:
		sum64by64AVX512(first, w, n, from, sum)
	case w == nil:
		sum32AVX512(first, w, n, from, sum)
	case unsafe.Sizeof(W(0)) == 4:
		sum32by32AVX512(first, w, n, from, sum)
	default:
		sum32by64AVX512(first, w, n, from, sum)
	}
}

// fetchWide asks for the lanes of the targets, and waits for none.
func fetchWide[P float32 | float64](targets []int32, p [][lanes]P) {
	switch first, from := unsafe.SliceData(targets), unsafe.Pointer(unsafe.SliceData(p)); {
	case len(targets) == 0:
	case unsafe.Sizeof(P(0)) == 8:
		fetch64AVX512(first, len(targets), from)
	default:
		fetch32AVX512(first, len(targets), from)
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
func fetch64AVX512(targets *int32, n int, p unsafe.Pointer)

//go:noescape
func fetch32AVX512(targets *int32, n int, p unsafe.Pointer)
