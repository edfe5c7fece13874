// SPDX-License-Identifier: Apache-2.0

// Package langchain is the bridge to github.com/tmc/langchaingo, and the one
// place that imports it. [From] makes an [llm.Model] of any langchaingo
// model: langchaingo v0.1.14 loses HTTP statuses, cancellation, some options and
// some errors on the way, so a model is guarded as far as its result
// shows what happened. [Retriever] gives langchaingo's chains any of our retrievers,
// [Dense] makes a retriever of any vector store of langchaingo. The embedders of
// llm/transport fit its embeddings.Embedder by shape.
package langchain
