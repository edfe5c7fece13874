// SPDX-License-Identifier: Apache-2.0

// Package paper judges by asking a language model, as WildGraphBench (arXiv
// 2602.02053, section 3.5) describes it: the judge sees the evidence, statements are
// matched with statements, failures are unscored.
//
// What is asked is asked under ids made from the data, with every verdict demanded
// and control items ([Canary]) mixed in, so that a text that addresses the judge
// gains nothing.
package paper
