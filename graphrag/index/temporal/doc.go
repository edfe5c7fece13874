// SPDX-License-Identifier: Apache-2.0

// Package temporal does the shares of package index on any number of machines, by a Temporal server
// (https://temporal.io), which keeps in its database what is to be done and what is done. Workers and
// the server may die and come back at any time; the job continues.
//
//	machine A, B, …   w, err := temporal.NewWorker(client, ix, temporal.Options{})
//	                  err = w.Run(ctx)
//	anywhere          progress, err := temporal.Run(ctx, client, "logs", temporal.Options{}, nil)
//	                  stats, err := ix.Build(ctx, system)
//
// The store of the index must be one that all of them share, such as PostgreSQL. The server sees
// numbers and errors alone; no text and no reply.
//
// A share is an activity with a heartbeat, so that one whose worker died is given to another after
// [Options].Heartbeat. A failure that may pass is tried again until it does, after the time that the
// service asked for; one that will not ends the job.
package temporal
