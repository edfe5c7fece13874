// SPDX-License-Identifier: Apache-2.0

// Package vector finds, of many float32 vectors, those with the largest dot product with a
// query: exactly by default, or approximately among a share of the rows.
//
//	x, err := vector.New(vector.Options{Dim: 384, Cosine: true})
//	err = x.Add(rows...)
//	hits, err := x.Search(query, 10, nil) // row numbers and scores, best first
//
// The score of a row is its dot product with the query, with products and sums in float64 in one fixed
// order, rounded to float32 at the end. A product of two float32 numbers is exact in float64, so the score
// has the same bits on every machine. Results are ordered by score, equal scores by id. Neither the
// processor nor the number of workers changes one bit of a result.
//
// A search has two stages. The scan estimates the score of every row, with a bound of the error. Rows whose
// upper bound is below the k-th largest lower bound cannot be among the first k, ties included. The few
// remaining rows are scored exactly. The scan is over int8 codes, a quarter of the bytes: the error is
// bounded by the length of the difference between row and code (Cauchy–Schwarz), and the codes cost 25 %
// more memory. Without AVX2 it is over the float32 rows, since codes would be slower in plain Go: the error
// is the rounding of float32.
//
// A condition ([Params].Keep) is checked when a row is about to become a candidate, so few
// rows are checked, and the result is exact: the best of the rows that pass.
//
// # Approximate search
//
// With [Options.Signs] an index also keeps the signs of each row after a random rotation, an
// eighth of the bytes of the codes and four bytes a row, as RaBitQ does (Gao and Long, SIGMOD
// 2024). A search with [Params].Share estimates all scores by the signs and scans the codes of
// the rows with the best estimates only. Of these rows it finds the best, exactly; which rows
// they are is the same on every machine. The error of the estimates does not depend on the
// distribution of the rows, as it does with inverted lists or graphs of neighbours: it is about
// .75 of the lengths divided by the root of the number of signs. Many equal rows do no harm.
//
// # Larger than memory
//
// A [Writer] writes an index to a folder, and [Open] maps it: a search reads the codes of all
// rows, or their signs and a share of the codes, and the few rows that it scores.
//
// On amd64 with AVX2 the scan runs in assembly, elsewhere in plain Go. An [Index] is
// safe for concurrent use; a [Writer] is not.
package vector
