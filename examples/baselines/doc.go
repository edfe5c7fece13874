// SPDX-License-Identifier: Apache-2.0

// Package baselines holds what the recipes of the published systems share: the
// [Kit] of parts a system is built from, the way pages are cut ([Cut]), and
// the frame of every system that retrieves chunks and reads them
// ([RetrieveThenRead]).
//
// The systems themselves are the packages below: bm25, naiverag, zeroshot.
// Each is a recipe, meant to be read and copied.
package baselines
