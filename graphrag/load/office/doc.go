// SPDX-License-Identifier: Apache-2.0

// Package office reads office documents (DOCX, XLSX, PPTX, ODT), books (EPUB), messages (EML) and
// notebooks of Jupyter as documents of package load.
//
//	options := load.Options{Formats: office.Formats()}
//	files, skipped, err := options.Folder(ctx, os.DirFS("notes"))
//
// A sheet of XLSX is a section with a table for each run of rows under its header, by the values computed when it was
// saved; a slide of PPTX a section with its notes; an EPUB its pages in the order of the spine; an EML file its text,
// with attachments by name. Hidden sheets and slides, comments, footnotes, charts and pictures are not read.
//
// Fields are the metadata of office documents and books (title, author, subject, description, keywords, category,
// publisher, language, date, created, modified) and the headers of messages (from, to, cc, date, subject).
//
// Archives that unpack to far more than they are, to more than 64 MiB of text or 4 million cells
// are errors, and so is what is encrypted; XML has no entities of its own.
package office

import "github.com/wildgraph/wildgraph/graphrag/load"

// Formats returns the readers of the package by extension, for [load.Options].
func Formats() map[string]load.Format {
	return map[string]load.Format{
		".docx": archived(word), ".docm": archived(word), ".xlsx": archived(workbook), ".xlsm": archived(workbook),
		".pptx": archived(slides), ".pptm": archived(slides), ".ppsx": archived(slides),
		".odt": archived(openText), ".epub": archived(ebook), ".eml": mailFile, ".ipynb": notebookFile,
	}
}
