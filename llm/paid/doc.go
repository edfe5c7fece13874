// SPDX-License-Identifier: Apache-2.0

// Package paid makes calls to models that cost money: each is recorded, stays within
// the limits and is paid for once. [Open] opens a journal on disk and gives a
// [Client], whose [Client.Model] and [Client.Embedder] wrap any model and embedder:
//
//   - Replies and vectors are kept as they come and returned once they are on disk.
//   - A call reserves tokens and money before it is made and settles afterwards.
//   - The ledger has every call; the [Account] has the sums by stage, question and
//     model, the cost by [Prices] that the user gives, and the calls that may have been
//     billed without a trace. [Estimate] holds what a run is expected to take.
//
// A request is identified by everything that the model sees, its name included.
package paid
