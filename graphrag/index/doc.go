// SPDX-License-Identifier: Apache-2.0

// Package index builds systems whose indexing takes hours of calls of a model, by one process or many, which
// may be killed at any time.
//
//	x, err := index.Open(ctx, index.Options{Store: s, Name: "logs", System: recipe})
//	err = x.Put(ctx, docs)
//	done, err := x.Do(ctx, index.Share{I: 0, N: 4}) // one of four processes
//	system, err := recipe()
//	stats, err := x.Build(ctx, system)
//
// The store keeps the documents and every reply of the model and the embedder, before it is used. So a killed
// process pays again only for the calls in progress, and each reply is requested once, whichever process
// requests it.
//
// # Shares
//
// Every process builds the system, as [kit.System.Index] does, but requests only the replies of its [Share],
// which the hash of the request decides. It stops at the end of a step in which replies of other shares are
// missing, because the next step depends on all of them. When all shares have stopped, the next round completes
// one more step, until nothing is missing. [Index.Build] then makes no requests, and its system equals the
// system of one process, to the byte.
//
// Package graphrag/index/temporal gives the shares to workers and survives their deaths. Several processes need
// a store that they can share, such as PostgreSQL.
package index
