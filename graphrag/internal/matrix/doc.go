// SPDX-License-Identifier: Apache-2.0

// Package matrix multiplies dense matrices in float32 and float64, with AVX2 and AVX-512 where the processor has
// them, and computes the first singular values and vectors of a large matrix that it knows by its products alone.
//
// Both products keep a tile of results in registers (Goto and van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication", ACM TOMS 34(3), 2008): the right factor is packed in panels of columns, the left
// one is read in place. Each result is one sum in the order of the depth. In float64 products are not
// rounded before they are added, so all processors have the same bits; in float32 plain Go rounds them, and
// the last bits differ between kinds of processor.
package matrix
