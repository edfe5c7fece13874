// SPDX-License-Identifier: Apache-2.0

// Package chunk cuts documents into chunks that know where they came from.
//
//	c, err := chunk.New(chunk.Options{}) // windows of 1,200 tokens
//	chunks, err := c.All(ctx, graphrag.Documents(docs...))
//
// A [Splitter] cuts a text into spans: [Tokens] into overlapping windows of model tokens (1,200 with an
// overlap of 100, as GraphRAG and LightRAG have it), [Sentences] into whole sentences up to a budget of
// tokens. A [Chunker] applies one to documents, after cleaning them if asked to, and numbers the chunks.
//
// Every Splitter guarantees: the first span begins at 0, the last ends at the end of the text, and each
// begins no later than the previous one ends, so the text can be reassembled; no span is empty, cuts a
// rune, or lies within the previous one. Text of white space alone has no span. Special tokens such as
// <|endoftext|> are plain text, NUL is a character like any other, and a byte that is not valid UTF-8 is
// cut and counted as the character U+FFFD would be.
//
// Everything here is safe for concurrent use.
package chunk
