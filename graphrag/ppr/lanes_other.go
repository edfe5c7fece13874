// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package ppr

// There is a kernel for amd64 alone.
const wide, widest = false, false

func gatherWide[W, P float32 | float64]([]int32, []W, [][lanes]P, *lane) {}

func fetch[P any]([]int32, []P) {}
