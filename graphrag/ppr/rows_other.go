// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package ppr

// There are kernels for amd64 only.
func readsEight[W float32 | float64](*arcs[W]) bool { return false }

func backwardEight[W float32 | float64](*arcs[W], *quotient, *query, float64, int, int) {}

func forwardEight[W float32 | float64](*arcs[W], *quotient, *query, float64, int, int) float64 {
	return 0
}
