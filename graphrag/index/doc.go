// SPDX-License-Identifier: Apache-2.0

// Package index builds systems that take long: hours of calls of a model, by one process or many, which
// may be killed at any time.
//
//	x, err := index.Open(ctx, index.Options{Store: s, Name: "logs", System: recipe})
//	err = x.Put(ctx, docs)
//	done, err := x.Do(ctx, index.Share{I: 0, N: 4}) // one of four processes
//	system, err := recipe()
//	stats, err := x.Build(ctx, system)
//
// The store keeps the documents and every reply of the model and the embedder, before it is used. So a
// process that is killed pays again only for the calls that were running, and a reply is asked for
// once, whichever process asks.
//
// # Shares
//
// Every process builds the system, as [kit.System.Index] does, but asks only for the replies of its
// [Share], which follow from the hash of a request. At the end of a step in which replies of other
// shares are missing it stops: what the next step asks for depends on all of them. When all shares
// stopped, the next round completes one more step, until nothing is missing. [Index.Build] then asks
// for nothing, and its system equals the system of one process, to the byte.
//
// Package graphrag/index/temporal hands the shares to workers and survives their deaths. Several
// processes need a store that they can share, such as PostgreSQL.
package index
