// SPDX-License-Identifier: Apache-2.0

// Package vector is a dense index: which of many float32 vectors have the
// largest dot product with a query. It is exact, unless it is told to search only some
// of them: those with the best estimates, or those that a walk along a graph comes by.
//
// # What is exact
//
// The score of a row is defined as the dot product of row and query, products
// and sums in float64 in one fixed order, rounded to float32 at the end. A
// product of two float32 numbers is exact in float64, so the score has the
// same bits on every machine, with or without fused multiply-add. Results are
// ordered by score, equal scores by id. Neither the processor, the number of
// workers, the batch a query comes in, nor [Options.Quantized] changes one bit
// of a result.
//
// # How it is fast
//
// A search has two stages. The scan estimates the score of every row together
// with a bound for the error of the estimate; rows whose upper bound does not
// reach the k-th best lower bound cannot be among the first k, ties included.
// The few rows that are left are scored by the definition. The scan comes in
// two kinds:
//
//   - over the float32 rows: the error is that of float32 rounding, and a
//     handful of rows beyond k are scored again;
//   - over int8 codes, a quarter of the bytes, with [Options.Quantized]: the
//     error is bounded by the length of what the code leaves of each row
//     (Cauchy–Schwarz). The codes cost 25 % more memory.
//
// A single query is limited by the rate at which memory is read. [Index.SearchBatch]
// reads each row once for many queries and is limited by arithmetic instead: over codes,
// with queries in bytes too, a quarter of it, and the rows that the wider bound leaves are
// estimated once more as for a single query.
//
// A condition ([Params].Keep) is looked at when a row is about to become a candidate,
// so it is asked about few rows and the result is as exact as without: the best of
// the rows that are kept.
//
// # Larger than memory
//
// A [Writer] writes rows and codes to a folder, and [Open] maps it: with codes, a
// search reads the codes of all rows, and the few rows that it scores.
//
// With [Options.Signs] the writer keeps the signs of each row after a random rotation
// besides, a sixth of the bytes of the codes, as RaBitQ does (Gao and Long, SIGMOD 2024).
// A search that asks for it ([Params].Share) estimates all scores by the signs first and
// reads the codes of the rows with the best estimates. That is the only thing about it
// that is not exact: of these rows it finds the best, in the same bits as any other
// search, and which rows they are is the same on every machine. How far the estimates
// are off does not depend on how the rows lie, as it does with inverted lists or graphs
// of neighbors: about .75 of the lengths by the root of the number of signs.
//
// # A graph, for millions
//
// With [Options.Graph] rows that are alike are linked, on layers of which each has a
// thirty-second of the rows of the one below (HNSW: Malkov and Yashunin, IEEE TPAMI 2020).
// A search that asks for it ([Params].Beam) walks along the links, by the products of
// codes, and is exact for the rows that it keeps in mind. The graph is the same with any
// number of workers, on every machine, and however rows were added: they are linked 256
// at a time, and those that wait for their round are all looked at. It takes 128 bytes a
// row, and a tenth of a millisecond or two of CPU to link one. Up to some 100,000 rows the
// exact search over codes is fast enough without. Rows that are to be hidden are hidden by
// [Params].Keep; the walk leads over them.
//
// On amd64 with AVX2 and FMA the scans run in assembly, elsewhere in plain Go.
package vector
