// SPDX-License-Identifier: Apache-2.0

// Package llm defines the interface to language models, [Model], and the errors of their calls.
//
//	model := llm.ByFunc("mine", func(ctx context.Context, r llm.Request) (llm.Reply, error) { … })
//	reply, err := model.Generate(ctx, llm.Prompt("Who built the Fram?"))
//
// [Error] and its [Kind] say what went wrong, whether a retry can help, and whether the attempt was billed;
// [OfOneReply] reports the errors after which a job can continue. [Stream] passes on a reply while it is written,
// if the model supports it.
//
// llm/prompts makes requests from templates and fences off their data, llm/replies reads the JSON that models
// really write, and llm/metering adds up the usage of the calls under a context. Two packages connect a program to a
// paid service: llm/transport talks to the servers (wire formats of OpenAI and Ollama, retries, adaptive concurrency,
// a circuit breaker), llm/paid records and caches what was paid for (ledger, budget, cache). llm/langchain is the
// bridge to other providers; llm/llmtest holds scripted models and servers for tests.
package llm
