// SPDX-License-Identifier: Apache-2.0

// Package paid makes calls to models that cost money: each is recorded, stays within the limits and is paid
// for once. [Open] opens a journal on disk and returns a [Client], whose [Client.Model] and [Client.Embedder]
// wrap any model and embedder:
//
//   - Replies and vectors are stored as they arrive and returned once they are on disk.
//   - A call reserves tokens and money in advance and settles afterwards.
//   - The ledger has every call; the [Account] has the sums by stage, question and model, the cost by user-supplied
//     [Prices], and the calls that may have been billed without usage. [Estimate] is the expected usage of a run.
//
// A request is identified by everything that the model sees, its name included.
package paid
