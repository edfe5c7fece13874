// SPDX-License-Identifier: Apache-2.0

// Package chunk cuts documents into chunks that record their place in the document.
//
//	c, err := chunk.New(chunk.Options{}) // windows of 1,200 tokens
//	chunks, err := c.All(ctx, graphrag.Documents(docs...))
//
// A [Splitter] cuts a text into spans: [Tokens] into overlapping windows of model tokens (1,200 with an overlap
// of 100, as in GraphRAG and LightRAG), [Sentences] into whole sentences up to a token budget. A [Chunker]
// applies a splitter to documents, optionally after cleaning them, and numbers the chunks.
//
// Every Splitter guarantees: the first span begins at 0, the last ends at the end of the text, and each begins
// no later than the previous one ends, so the text can be reassembled; no span is empty, cuts a rune, or is
// within the previous one. A text of white space has no spans. Special tokens such as <|endoftext|> are plain
// text, NUL is a character like any other, and an invalid UTF-8 byte is treated like the character U+FFFD.
//
// All types are safe for concurrent use.
package chunk
