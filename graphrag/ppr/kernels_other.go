// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package ppr

// There are kernels for amd64 alone.
const wide, widest, eight = false, false, false

func gatherWide[W, P float32 | float64]([]int32, []W, [][lanes]P, *lane) {}

func fetch[P any]([]int32, []P) {}

func backwardRowAVX512(_, _, _ *lane, _, _ *[lanes]float32, _, _ *lane, _, _ float64) {}

func forwardRowAVX512(_, _ *lane, _ *[lanes]float32, _ *lane, _, _, _ float64) {}

func stepRowsAVX512(_, _, _ *lane, _ *[lanes]float32, _, _ *float64, _ int, _, _, _ *lane) {}

func backwardEight[W float32 | float64](*arcs[W], *quotient, *single, float64, int, int) {}

func forwardEight[W float32 | float64](*arcs[W], *quotient, *single, float64, int, int) float64 {
	return 0
}
