// SPDX-License-Identifier: Apache-2.0

// Package bm25 is the BM25 baseline of WildGraphBench (Robertson and Zaragoza
// 2009): rank the chunks by their words, read the best.
package bm25
