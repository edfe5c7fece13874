// SPDX-License-Identifier: Apache-2.0

// Package ircot retrieves, has a model write the next thought towards the answer,
// retrieves for that thought, and so on: IRCoT (Trivedi and others, arXiv 2212.10509,
// ACL 2023) around HippoRAG, as in Gutiérrez and others (arXiv 2405.14831, section
// 4). [Around] does it with any system.
//
// Each thought is a query of its own; a chunk has its best score over the steps, the
// best of each step counting 1, the earlier step first. It ends when a thought holds
// the answer, is empty or one of those before, or after Steps. The answer is the kit's
// reader's, as in all systems.
//
// Where this differs from HippoRAG's code: it asks on with an empty thought where the
// model fails, which here ends the search; its prompt has an example of the data set,
// ours none; what the model is shown is bounded in tokens.
//
// A question takes a call for each thought and one for the names in it. Offline there
// is nobody to think, and the system is HippoRAG: one step.
package ircot
