// SPDX-License-Identifier: Apache-2.0

package pdf

import (
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// PDFium writes U+0002 or U+FFFE for a hyphen at the end of a line.
func TestHyphens(t *testing.T) {
	for _, row := range check.Rows(t, "testdata/hyphens.txt") {
		in, want := row[0], row[1]
		check.Equal(t, printable(in, map[string]bool{"co-operative": true, "pop-ulation": true, "population": true}), want, "%q", in)
	}
}
