// SPDX-License-Identifier: Apache-2.0

// Package llmtest holds what tests need in place of a paid model: [Script],
// a model with canned replies; [Server], an HTTP server that speaks the wire
// formats of OpenAI and Ollama, fails on command and keeps a bill; cassettes,
// which record a real model once and replay it for ever; and [TestModel] and
// [TestEmbedder], which check that an implementation keeps the contract of
// its interface.
//
// # Cassettes
//
// A cassette is a file of JSON lines, one for every request and what came of
// it, in the order of their ends. [Recorder] records a model, [Replay] plays it.
// Equal requests are replayed in the order recorded; the last one repeats.
//
// No secret gets into a cassette: keys, tokens and the ids of organisations are
// blotted out. What a prompt says about people is not a secret that a program
// could know: look through a cassette before you publish it.
//
// Everything is deterministic and safe for concurrent use.
package llmtest
