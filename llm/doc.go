// SPDX-License-Identifier: Apache-2.0

// Package llm defines the interface to language models, [Model], and what callers need to ask one and to read
// its reply.
//
//   - [Prompts] make requests from templates; a [Fence] marks off the data in a prompt.
//   - [Error] and its [Kind] say what went wrong, whether a retry can help, and whether the attempt was billed;
//     [OfOneReply] reports the errors after which a job can continue.
//   - [Decode] and [ReadObject] read the JSON that models really write.
//   - [Stream] passes on a reply while it is written, if the model supports it.
//   - [Meter] adds up the usage of the calls under a context.
//
// Two packages connect a program to a paid service: llm/transport talks to the servers (wire formats of
// OpenAI and Ollama, retries, adaptive concurrency, a circuit breaker), llm/paid records and caches what was
// paid for (ledger, budget, cache). llm/langchain is the bridge to other providers; llm/llmtest holds
// scripted models and servers for tests.
package llm
