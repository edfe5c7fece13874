// SPDX-License-Identifier: Apache-2.0

// Package llmtest replaces paid models in tests: [Script] is a model with prepared replies; [Server] speaks the
// wire formats of OpenAI and Ollama, fails on command and keeps a bill; [TestModel] checks the contract of a
// model. Everything is deterministic and safe for concurrent use.
package llmtest
