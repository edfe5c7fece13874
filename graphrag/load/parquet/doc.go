// SPDX-License-Identifier: Apache-2.0

// Package parquet reads the rows of Parquet files that are not trusted: [Open] checks the
// footer, [Rows] hands out the rows, and damage is an error, never a panic.
package parquet
