// SPDX-License-Identifier: Apache-2.0

package ppr

//go:noescape
func backwardRowAVX512(sum, r, w *lane, t, z *[lanes]float32, beta, going *lane, by, inverse float64)

//go:noescape
func forwardRowAVX512(sum, w *lane, t *[lanes]float32, dot *lane, by, pivot, inverse float64)

//go:noescape
func stepRowsAVX512(y, r, w *lane, t *[lanes]float32, pivot, strength *float64, n int, alpha, rho, norm *lane)
