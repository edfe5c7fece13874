// SPDX-License-Identifier: Apache-2.0

// Package transport asks models over HTTP. [OpenAI] and [Ollama] are chat models, [OpenAIEmbedder] and [OllamaEmbedder]
// embedders, [ProviderFromEnv] finds the server in the environment. All of them send requests through a [Transport],
// which has the only retry loop, adaptive concurrency, and a circuit breaker that waits for a server to return.
//
// Keys never show in an error, a log, a name or a cache key. A plain http address of another machine is
// refused unless Config.AllowHTTP is set.
package transport
