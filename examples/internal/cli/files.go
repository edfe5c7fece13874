// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/graphrag/load/pdf"
)

// Files reads documents in the formats of graphrag/load and load/office, and PDF. The parser of PDF is
// compiled once and cached in the user's cache folder.
type Files struct {
	load.Options
	pdf *pdf.Reader
}

// NewFiles returns a reader of files. Close it after use.
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

// Close stops the parser of PDF.
func (f *Files) Close() error { return f.pdf.Close() }
