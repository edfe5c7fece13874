// SPDX-License-Identifier: Apache-2.0

// Package ppr computes personalised PageRank.
package ppr
