// SPDX-License-Identifier: Apache-2.0

// Package transport asks models over HTTP. [OpenAI] and [Ollama] are chat models,
// [OpenAIEmbedder] and [OllamaEmbedder] embedders, [ProviderFromEnv] finds the server
// of the environment. All of them send by a [Transport]: the one retry loop,
// the adaptive concurrency and the breaker that waits for a server to come back. No
// layer above retries.
//
// Keys never show in an error, a log, a name or a cache key. A plain http
// address that is not this machine is refused unless Config.AllowHTTP is set.
package transport
