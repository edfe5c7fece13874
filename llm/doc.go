// SPDX-License-Identifier: Apache-2.0

// Package llm is how WildGraph talks to language models: one small interface,
// [Model], and what stands between a program and a paid service.
//
// The parts are decorators and compose from the inside out:
//
//		model, err := langchain.OpenAI(langchain.Config{Model: "gpt-5-mini"}) // HTTP, retries, limits, metering
//		model = ledger.Model(model)                                           // what was paid for what
//		model = budget.Model(model)                                           // a hard limit of tokens and money
//		model, err = llm.Cached(model, journal, llm.CacheOptions{})           // never pay twice
//
//	  - [Transport] is an http.RoundTripper with the one retry loop, the rates,
//	    the adaptive concurrency, the breaker that waits for a server to come
//	    back, and the meter. No layer above retries.
//	  - [Error] and its [Kind] say what went wrong, whether trying again can
//	    help, and whether the attempt was billed.
//	  - [Cached] and [CachedEmbedder] keep paid replies in a journal.
//	  - [Budget] reserves tokens and money before a call and settles afterwards.
//	  - [Ledger] writes down every call; its [Account] has the sums by stage,
//	    question and model, the cost by [Prices] that the user gives, and the
//	    calls that may have been billed without a trace. [Estimate] holds what a
//	    run is expected to take.
//	  - [Meter] adds up usage by stage, for embeddings too; [WithMeter] accounts
//	    for everything done under a context.
//	  - [ReadObject] and [Decode] read the JSON that models really write;
//	    [RaiseLimit] gives a reply that was cut a second chance.
//
// No vendor's client is linked here; llm/langchain is the bridge to them, and
// llm/llmtest holds scripted models and servers for tests.
package llm
