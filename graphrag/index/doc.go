// SPDX-License-Identifier: Apache-2.0

// Package index builds an index that takes long: hours of calls to a model, over more
// than one process if need be, that may be killed at any time.
//
// There is one description of the work, a [Plan] of [Stage]s, and two ways to run it:
// [Run] in a pool of this process, and package graphrag/index/temporal over many. The
// stages are
//
//	documents → cut → extract → embed → write │ graph │ communities │ reports │ publish
//
// Up to write, a batch of chunks goes on as soon as it can; a barrier stands where
// the algorithm needs one: the graph is of all extractions, communities are of the
// graph, and reports on a level are written from those of the level below.
//
// # References
//
// A [Task] names a stage and a batch, and a batch is a reference: the SHA-256 of a
// list that is kept in the store. What a task is given and what it finds is kept there
// under hashes of the content, before the task reports success, so a task that is done
// twice, or by two at once, comes to the same. Everything else is derived: from
// the root of a [Job] lead its documents, their chunks, and what was found in these. Of a
// corpus that has changed, only what is new is extracted and embedded.
//
// # Replies
//
// [Index.Model] keeps what a model replied in the store as well, before anybody sees
// it. So no reply is paid for twice, by whatever process, but those that were under
// way when a process was killed; [Index.Doubtful] lists these. A system of package kit
// that is built with such a model pays only for what the index has not asked.
//
// # Stores
//
// The index is collection NAME: tables "chunks" (words and vectors), "entities" and
// "reports" (words), "communities", and triples; what it is made of is collection
// NAME-work. Several processes need a store that they can share, such as PostgreSQL.
package index
