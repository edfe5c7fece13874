// SPDX-License-Identifier: Apache-2.0

// Package langchain is the bridge to github.com/tmc/langchaingo, and the one
// place that imports it. [From] makes an [llm.Model] of any langchaingo
// model; [OpenAI] and [Ollama] build the two everyday providers, and
// [OpenAIEmbedder] and [OllamaEmbedder] their embedders, which fit
// langchaingo's embeddings.Embedder by shape.
// Retriever gives chains any of our retrievers, Vectors any of our stores; Dense makes a
// retriever of any vector store of langchaingo.
//
// langchaingo v0.1.14 loses HTTP statuses, cancellation, some options and
// some errors on the way. For the providers built here all of that is done
// below it: [transport.Transport] retries and limits, the request's fields are
// written into the JSON body as it leaves, and the reply is read from the
// body as it arrives. A model from elsewhere is guarded as far as its result
// shows what happened; see [From].
//
// Keys never show in an error, a log, a name or a cache key. A plain http
// address that is not this machine is refused unless Config.AllowHTTP is set.
package langchain
