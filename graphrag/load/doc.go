// SPDX-License-Identifier: Apache-2.0

// Package load reads Markdown, HTML and text files as documents with a structure:
// paragraphs, headings, list items, table rows with their headers, definition lists,
// code as code, front matter, each with its place in the file.
//
//	files, skipped, err := load.Folder(ctx, os.DirFS("notes"))
//	files[0].Document          // for a system to index
//	files[0].Line(offset)      // where a quote of its text stands
//	load.Blocks(chunk.Text)    // the structure of a piece
//
// # One language of structure
//
// The text of every document is Markdown: that of Markdown and text files as it is,
// so that offsets into the text are offsets into the file, that of HTML written anew,
// with [File.Source] and [File.Line] leading back. So what is cut, indexed, stored and
// given to a model is one readable text, and whoever wants the structure of any piece
// of it asks [Blocks]. A piece that begins inside of a table or a list lacks what it
// goes on from; [Lead] is that, a few lines, and stands beside a chunk
// (graphrag.Chunk.Lead) from the time it is cut. Blocks(lead + text) is the structure
// of the piece in its place.
//
// # Formats
//
// A format is one function from a name and the bytes of a file to a [File], chosen by
// the extension, or by a look at the content if there is none ([Read]). What is not
// known is an error that wraps [ErrFormat], and [Folder] counts it.
//
// # Hostile files
//
// Files are what others wrote. At most [MaxFile] bytes are read; nesting beyond 32
// levels, tables wider than 128 columns and texts that the parser fails on are
// read as paragraphs; the time is about linear in the size; nothing is fetched and
// nothing is run.
//
// goldmark (the blocks of Markdown) and golang.org/x/net/html (the tokens of HTML)
// are under it. Everything here is safe for concurrent use.
package load
