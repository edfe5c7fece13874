// SPDX-License-Identifier: Apache-2.0

// Package llmtest holds what tests need in place of a paid model: [Script],
// a model with canned replies; [Server], an HTTP server that speaks the wire
// formats of OpenAI and Ollama, fails on command and keeps a bill; cassettes,
// which keep the replies of a real model ([Record]) for tests without it ([Replay]);
// [TestModel] and [TestEmbedder], which check the contract of an interface.
//
// No key gets onto a cassette, as far as a program can tell one. What a prompt says about
// people is no key: look through a cassette before you publish it.
//
// Everything is deterministic and safe for concurrent use.
package llmtest
