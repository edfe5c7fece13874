// SPDX-License-Identifier: Apache-2.0

// Package chunk cuts documents into chunks that know where they came from.
//
// A [Splitter] cuts a text into spans: [Tokens] into overlapping windows of
// model tokens (1,200 with an overlap of 100, as GraphRAG and LightRAG have
// it), [Words] and [Pieces] into windows of words or pieces, [Sentences] into
// whole sentences up to a budget of tokens. A [Chunker] applies one to
// documents, after cleaning them if asked to, and numbers the chunks. [Pages] cuts
// web pages together into clean, overlapping passages.
//
// What every Splitter holds to: the first span begins at 0, the last ends at
// the end of the text, each begins no later than the one before ended, so that
// the text can be put together again; no span lies within its predecessor,
// cuts a rune or is empty. Text of white space alone has no span. Special tokens
// such as <|endoftext|> are plain text, NUL is a character like any other, and a
// byte that is not valid UTF-8 is cut and counted as the character U+FFFD would be.
//
// Everything here is safe for concurrent use.
package chunk
