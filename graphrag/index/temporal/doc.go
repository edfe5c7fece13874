// SPDX-License-Identifier: Apache-2.0

// Package temporal processes the shares of package index on any number of machines, by a Temporal server
// (https://temporal.io), which keeps the state of the job in its database. Workers and the server may die and
// come back at any time; the job continues.
//
//	machine A, B, …   w, err := temporal.NewWorker(client, ix, temporal.Options{})
//	                  err = w.Run(ctx)
//	anywhere          progress, err := temporal.Run(ctx, client, "logs", temporal.Options{}, nil)
//	                  stats, err := ix.Build(ctx, system)
//
// All machines must share the store of the index, such as PostgreSQL. The server sees only numbers and error
// messages, no texts and no replies.
//
// A share is an activity with a heartbeat, so that the share of a dead worker is given to another one after
// [Options].Heartbeat. A temporary failure is retried until it passes, after the time that the service asked
// for; a permanent one ends the job.
package temporal
