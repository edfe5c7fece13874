// SPDX-License-Identifier: Apache-2.0

// Package llm is how WildGraph talks to language models: one small interface,
// [Model], and what stands between a program and a paid service.
//
// The parts are decorators and compose from the inside out:
//
//		model, err := langchain.OpenAI(langchain.Config{Model: "gpt-5-mini"}) // HTTP, retries, metering
//		model = budget.Model(model)                                           // a hard limit of tokens
//		model, err = llm.Cached(model, journal, llm.CacheOptions{})           // never pay twice
//
//	  - [Transport] is an http.RoundTripper with the one retry loop, the rate
//	    and concurrency limits, and the meter. No layer above retries.
//	  - [Error] and its [Kind] say what went wrong, whether trying again can
//	    help, and whether the attempt was billed.
//	  - [Cached] and [CachedEmbedder] keep paid replies in a journal.
//	  - [Budget] reserves tokens before a call and settles afterwards.
//	  - [Meter] adds up usage by stage, for embeddings too; [WithMeter] accounts
//	    for everything done under a context.
//	  - [ReadObject] and [Decode] read the JSON that models really write.
//
// No vendor's client is linked here; llm/langchain is the bridge to them, and
// llm/llmtest holds scripted models and servers for tests.
package llm
