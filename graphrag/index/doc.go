// SPDX-License-Identifier: Apache-2.0

// Package index runs long index builds: hours of calls of a model, by one process or many,
// which may be killed at any time.
//
// A [Plan] of [Stage]s describes the work. [Run] runs it in a pool of this process, package
// graphrag/index/temporal in many processes. The stages are
//
//	documents → cut → extract → embed → write │ graph │ communities │ reports │ publish
//
// Up to write, batches of chunks are processed independently. The other stages wait where the
// algorithm requires it: the graph needs all extractions, communities need the graph, and
// the reports of a level need those of the level below.
//
// # References
//
// A [Task] names a stage and a batch, and a batch is a reference: the SHA-256 of a list in
// the store. Inputs and results of a task are stored under hashes of their content before
// the task reports success, so running a task twice, or in two processes at once, has the
// same result. From the root of a [Job] follow its documents, their chunks and extractions.
// After a change of the corpus only what is new is extracted and embedded.
//
// # Replies
//
// [Index.Model] stores each reply of the model before it is used, so no process pays for a
// reply twice, except for calls that were running when a process was killed;
// [Index.Doubtful] lists these. A system of package kit that is built with this model pays
// only for requests that the index did not make.
//
// # Stores
//
// The index is the collection NAME: tables "chunks" (words and vectors), "entities" and
// "reports" (words), "communities", and triples. Its inputs are in the collection NAME-work.
// Several processes need a store that they can share, such as PostgreSQL.
package index
