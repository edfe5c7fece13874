// SPDX-License-Identifier: Apache-2.0

// Package ircot retrieves, has a model write the next thought towards the answer,
// retrieves for that thought, and so on: IRCoT (Trivedi and others, arXiv 2212.10509,
// ACL 2023) around HippoRAG, as in Gutiérrez and others (arXiv 2405.14831, section
// 4). [Around] does it with any system.
//
// Each thought is a query; a chunk has its best score over the steps, scaled to 1 for the
// best of each step, ties by the earlier step. The search ends when a thought contains the
// answer, is empty or repeated, or after Steps. The kit's reader answers, as in all systems.
//
// Where this differs from HippoRAG's code: a model that fails ends the search, while the code
// continues with an empty thought; the code's prompt has an example of the data set, ours
// none; the passages in a prompt are bounded in tokens.
//
// A question takes a call for each thought and one for the names in it. Offline there are no
// thoughts, and the system is HippoRAG: one step.
package ircot
