// SPDX-License-Identifier: Apache-2.0

// Package cluster groups vectors: by k-means, and by mixtures of Gaussians whose number of components is chosen
// by BIC.
//
// Vectors are rows of one flat slice of float32: row i is vectors[i*dim : (i+1)*dim]. Components must be finite
// and norms at most [MaxNorm]; errors about other vectors wrap [ErrVector] and name the row.
//
// Results are the same to the byte for the same input, options and seed: with any number of workers, and for
// k-means on any processor too. The nearest centroid is defined by a distance in float64, summed in a fixed
// order, see [KMeans].
package cluster
