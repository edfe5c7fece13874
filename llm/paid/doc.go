// SPDX-License-Identifier: Apache-2.0

// Package paid is what stands between a program and models that cost money.
// [Open] gives programs a [Client] with all of it; the parts are decorators that
// compose from the inside out:
//
//		model = ledger.Model(model)                                  // what was paid for what
//		model = budget.Model(model)                                  // a hard limit of tokens and money
//		model, err = paid.Cached(model, journal, paid.CacheOptions{}) // never pay twice
//
//	  - [Cached] and [CachedEmbedder] keep paid replies and vectors in a journal.
//	  - [Budget] reserves tokens and money before a call and settles afterwards.
//	  - [Ledger] writes down every call; its [Account] has the sums by stage,
//	    question and model, the cost by [Prices] that the user gives, and the calls
//	    that may have been billed without a trace. [Estimate] holds what a run is
//	    expected to take.
//
// A request is known by everything that the model sees, its name included.
package paid
