// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/graphrag/load/pdf"
)

// Files read the documents of all programs: what graphrag/load and load/office read, and PDF, whose
// parser is compiled once and kept in the user's cache folder.
type Files struct {
	load.Options
	pdf *pdf.Reader
}

// NewFiles returns the reader of files. It is closed after use.
func NewFiles() *Files {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = "" // the parser is compiled each time
	} else {
		cache = filepath.Join(cache, "wildgraph", "pdf")
	}
	f := &Files{pdf: pdf.New(pdf.Options{Cache: cache})}
	f.Formats = office.Formats()
	f.Formats[".pdf"] = f.pdf.Read
	return f
}

// Close ends the parser of PDF.
func (f *Files) Close() error { return f.pdf.Close() }
