// SPDX-License-Identifier: Apache-2.0

// Package langchain is the bridge to github.com/tmc/langchaingo, and the only package that imports it. [From]
// makes an [llm.Model] from any langchaingo model; langchaingo v0.1.14 drops HTTP statuses, cancellation, some
// options and some errors, so [From] checks the result itself. [Retriever] passes our retrievers to
// langchaingo's chains, [Dense] makes a retriever from any of its vector stores. The embedders of llm/transport
// satisfy its embeddings.Embedder.
package langchain
