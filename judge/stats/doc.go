// SPDX-License-Identifier: Apache-2.0

// Package stats computes confidence intervals of means and compares two systems.
//
// A mean should be given with an interval: [Wilson] for a share of right and wrong, [StudentT] for scores. Two
// systems that answered the same questions are compared question by question by [Compare]: the effect with its
// interval first, the p-value of the same method last. [Holm] corrects the p-values of several tests.
//
// # Clusters
//
// Questions about one page are not independent, and intervals that assume independence are too narrow.
// Functions with a parameter clusters expect the number of its cluster for every value ([Number] makes these
// from names); nil makes each value a cluster. The standard error follows Miller, Adding Error Bars to Evals
// (arXiv 2411.00640), equation 4.
//
// # Few and equal values
//
//	                  n = 0        n = 1        all values equal
//	Wilson            ErrTooFew    interval     interval
//	StudentT          ErrTooFew    ErrTooFew    width 0 except for rounding
//	Compare           ErrTooFew    ErrTooFew    interval; p = 1 if all are 0
//	Holm              empty        unchanged    -
//
// With clusters n is the number of clusters. NaN, infinite values and values beyond ±1e60 are errors
// everywhere.
//
// All functions are safe for concurrent use.
package stats
