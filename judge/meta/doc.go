// SPDX-License-Identifier: Apache-2.0

// Package meta judges the judge: how far does it agree with people, how far do
// people agree with each other, and what does its error do to a mean?
//
// [Ratings] hold what several raters said about the same items. Their
// agreement is measured by a [Measure]: the share of equal ratings, Cohen's
// kappa or Krippendorff's alpha, with an interval by the bootstrap over items.
// [Validate] sets the agreement of a judge with people beside that of people
// among themselves, which is the most a judge can be asked for. [PPI] corrects
// a mean of judge scores by a few human labels, with an interval that holds
// the judge's error as well as chance.
//
// # Missing and equal ratings
//
//	                         share equal     kappa           alpha
//	no item with two ratings ErrTooFew       ErrTooFew       ErrTooFew
//	all ratings equal        1               ErrUndefined    ErrUndefined
//	rating missing           the item does not count for the pair of raters
//	all raters agree         1               1               1
//	more than two raters     mean of pairs   mean of pairs   all together
//
// When all ratings are equal, kappa and alpha divide 0 by 0: nothing is known
// about agreement, and the error wraps [stats.ErrUndefined]. Resamples on
// which that happens are counted in the interval. Errors about too little data
// wrap [stats.ErrTooFew].
//
// All functions are pure and safe for concurrent use.
package meta
