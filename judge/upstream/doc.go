// SPDX-License-Identifier: Apache-2.0

// Package upstream judges by the procedure of WildGraphBench's released evaluator,
// for comparison with its files: no evidence is shown, each list of statements is
// held against the other side's whole text, failures count as 0. Its precision needs
// a reference text, which the released questions do not have, see
// [judge.PrecisionRef] and [Judge.Warning]. Its figures must not stand in a table
// with those of judge/paper.
package upstream
