// SPDX-License-Identifier: Apache-2.0

// Package matrix multiplies dense matrices in float32 and float64, with AVX2 and AVX-512 if the processor has
// them, and computes the leading singular values and vectors of a large matrix from its products with vectors.
//
// Both products keep a tile of results in registers (Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", ACM TOMS 34(3), 2008): the right factor is packed in panels of columns, the left one is read
// as it is. Each result is one sum in the order of the inner index. In float64 products are not rounded before
// they are added, so all processors give the same bits; in float32 plain Go rounds them, and the last bits
// differ between kinds of processor.
package matrix
