// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package cluster

// fastest returns the kernels in plain Go: there are no others here.
func fastest() kernels { return portable() }

// codeFirst codes nothing: there is no kernel but [codeRest] here.
func codeFirst(_ []int8, _ []float32, _ float32, _ *[8]float64) (done int, sum int32) { return 0, 0 }

// largestFirst takes nothing: largest does it all here.
func largestFirst([]float32) (done int, bits uint32) { return 0, 0 }
