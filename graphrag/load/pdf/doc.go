// SPDX-License-Identifier: Apache-2.0

// Package pdf reads the text of PDF files, page by page and column by column, for package load:
//
//	files := pdf.New(pdf.Options{})
//	defer files.Close()
//	options := load.Options{Formats: map[string]load.Format{".pdf": files.Read}}
//
// The parser is PDFium, the one of Chrome, compiled to WebAssembly and run by wazero: no C is linked, and the parser stays
// in a sandbox without files and network, with limits of memory and time. A place in a file is a page: "p3". Scans have
// no text: they are an error that says so.
package pdf
