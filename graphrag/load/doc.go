// SPDX-License-Identifier: Apache-2.0

// Package load reads files as documents with a structure: paragraphs, headings, list items, table rows with
// their headers, definition lists, code as code, front matter, each with its place in the file. It knows
// Markdown, HTML, text, CSV and TSV, JSON and JSONL, and source code; package load/office adds office
// documents, books, mail and notebooks, package load/pdf PDF.
//
//	files, skipped, err := load.Options{}.Folder(ctx, os.DirFS("notes"))
//	files[0].Document          // for a system to index
//	files[0].Line(offset)      // where a quote of its text stands
//	load.Blocks(chunk.Text)    // the structure of a piece
//
// # One language of structure
//
// The text of every document is Markdown. Markdown and text files are kept without struck text, so that offsets into
// the text are offsets into the file; other formats are converted, with [File.Source], [File.Line] and [File.Place]
// leading back. So the text that is cut, indexed, stored and given to a model is one readable text, and [Blocks]
// returns the structure of any piece of it. A piece that begins inside of a table or a list lacks its header or first
// line; [Lead] returns these few lines, which a chunk keeps (graphrag.Chunk.Lead) from the time it is cut.
// Blocks(lead + text) is the structure of the piece in its place.
//
// # Formats
//
// A [Format] is one function from a name and the bytes of a file to a [File], chosen by the extension, or by the content
// without one; [Options] add to them, and what is not known wraps [ErrFormat]. Rows of CSV files and short records of
// JSON are rows of a table under its header, longer ones sections; so are definitions of source code. Texts are UTF-8,
// UTF-16, UTF-32, what a page declares or the bytes tell, or Windows-1252; a guess is a [File.Problem].
//
// # Fields
//
// Documents have fields, for questions with conditions: the folder and the kind (extension) of the file, the keys of
// front matter with a text, a number, a time, true or false, or a list of texts, and the named meta elements of a page.
//
// # Hostile files
//
// Files are foreign input. At most [MaxFile] bytes are read of one, and of a file that grows only its length at first.
// Nesting beyond 32 levels, tables wider than 128 columns and texts that the parser fails on are read as paragraphs; the
// time is about linear in the size; links are not followed, nothing is fetched or run. A parser that panics is an error.
// Everything here is safe for concurrent use.
package load
