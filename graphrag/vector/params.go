// SPDX-License-Identifier: Apache-2.0

package vector

// Params say what a search is for.
type Params struct {
	// K is how many rows are wanted; none if it is 0 or less.
	K int
	// Keep, if set, says of a row whether it may be found: a filter, or what was not
	// deleted. Only rows that would else be found, or nearly so, are asked about. It
	// must say the same of a row throughout a search, may be called by several
	// goroutines at once, and must not use the index.
	Keep func(id int32) bool
	// Least, if it is above 0, is the least score that is wanted: what was found
	// elsewhere has as much already.
	Least float64
	// Share, if it is above 0 and the index keeps signs ([Options].Signs), is the share of
	// the rows that are read: those with the best estimates by their signs, of those to
	// keep. The result is exact for these rows; which they are, and so the result, is the
	// same on every machine. Otherwise the result is exact.
	Share float64
	// Beam, if it is above 0 and the index keeps a graph ([Options].Graph), is how many
	// rows a walk along the links keeps in mind, at least K: the best of those to keep
	// that it came by. The result is exact for these rows, and the same on every machine.
	// The time grows with it; 20 to 60 find 99 % of the ten nearest. If few rows are to be
	// kept, or there are fewer than a hundred times as many, all are looked at instead.
	Beam int
}
