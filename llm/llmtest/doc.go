// SPDX-License-Identifier: Apache-2.0

// Package llmtest holds what tests need in place of a paid model: [Script],
// a model with canned replies; [Server], an HTTP server that speaks the wire
// formats of OpenAI and Ollama, fails on command and keeps a bill;
// [TestModel] and [TestEmbedder], which check the contract of an interface.
//
// Everything is deterministic and safe for concurrent use.
package llmtest
