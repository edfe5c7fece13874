// SPDX-License-Identifier: Apache-2.0

// Package llm is how WildGraph talks to language models: one small interface,
// [Model], and what its users need to ask and to read.
//
//   - [Prompts] make requests of templates; a [Fence] marks off what is data.
//   - [Error] and its [Kind] say what went wrong, whether trying again can help,
//     and whether the attempt was billed; [OfOneReply] tells the errors that a job
//     can go on from.
//   - [Decode] and [ReadObject] read the JSON that models really write.
//   - [Stream] hands out a reply while it is written, where the model can.
//   - [Meter] adds up what is asked under a context.
//
// Two packages connect a program to a paid service: llm/transport asks the servers
// (OpenAI's and Ollama's wire formats, retries, adaptive concurrency, a breaker),
// llm/paid records and keeps what was paid for (ledger, budget, cache). llm/langchain is
// the bridge to other providers, and llm/llmtest holds scripted models and servers for
// tests.
package llm
