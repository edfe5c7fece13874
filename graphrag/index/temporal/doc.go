// SPDX-License-Identifier: Apache-2.0

// Package temporal runs the tasks of package index on any number of machines, by a
// Temporal server (https://temporal.io), which keeps in its database what is to be done
// and what is done. Workers and the server may die and come back at any time; the
// job goes on.
//
//	machine A, B, …   w, err := temporal.NewWorker(client, ix, temporal.Options{})
//	                  err = w.Run(ctx)
//	anywhere          progress, err := temporal.Run(ctx, client, job, temporal.Options{}, nil)
//
// The store of the index must be one that all of them share, such as PostgreSQL. The
// server sees references alone: hashes, counts and costs; no text and no reply.
//
// A task is an activity, with a heartbeat while it waits for a model, so that one
// whose worker died is given to another after [Options].Heartbeat. A failure that
// may pass is tried again until it does, after the time that the service asked for; one
// that will not ends the job. Tasks of an endpoint have a task queue of their own, whose
// rate the server keeps for all workers together. The workflow holds no more than
// [Options].Window tasks and begins a new history before the old one is too long.
package temporal
