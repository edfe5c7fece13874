// SPDX-License-Identifier: Apache-2.0

// Package llmtest holds what tests need in place of a paid model: [Script],
// a model with canned replies; [Server], an HTTP server that speaks the wire
// formats of OpenAI and Ollama, fails on command and keeps a bill;
// [TestModel], which checks the contract of a model.
//
// Everything is deterministic and safe for concurrent use.
package llmtest
