// SPDX-License-Identifier: Apache-2.0

// Package llmtest holds what tests need in place of a paid model: [Script],
// a model with canned replies; [Server], an HTTP server that speaks the wire
// formats of OpenAI and Ollama, fails on command and keeps a bill; and
// [TestModel] and [TestEmbedder], which check that an implementation keeps
// the contract of its interface.
//
// Everything is deterministic and safe for concurrent use.
package llmtest
