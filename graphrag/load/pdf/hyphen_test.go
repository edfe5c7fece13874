// SPDX-License-Identifier: Apache-2.0

package pdf

import (
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// PDFium writes U+0002 or U+FFFE for a hyphen at the end of a line.
func TestHyphens(t *testing.T) {
	for in, want := range map[string]string{
		"an exam\x02\r\nple of it":               "an example of it",
		"an exam\ufffe\r\nple":                   "an example",
		"state-of\x02\r\nthe-art here":           "state-of-the-art here",
		"Jean\x02\r\nPaul in 1939\x0245":         "Jean-Paul in 1939-45",
		"inter\x02\r\nnation\x02\r\nal":          "international",
		"(Co\x02\r\noperative) mono\x02\r\nlith": "(Co-operative) monolith",
		"the pop\x02\r\nulation":                 "the population",
		"an end\x02\r\n":                         "an end",
		"x\r\ny\x00z":                            "x\nyz",
	} {
		check.Equal(t, printable(in, map[string]bool{"co-operative": true, "pop-ulation": true, "population": true}), want, "%q", in)
	}
}
