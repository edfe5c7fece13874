// SPDX-License-Identifier: Apache-2.0

// Package parquet reads Parquet files that are not trusted: [Open] checks the footer, and damage is an error.
package parquet
