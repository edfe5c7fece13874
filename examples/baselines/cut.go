// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Cut says how pages become chunks. The zero value is the paper's setting
// (WildGraphBench, section 4.1) without the targets of links, which make up
// a third of the raw pages.
type Cut struct {
	// Size and Overlap are in cl100k tokens: 0 means 1,200 and a twelfth of
	// the size, Overlap -1 none.
	Size, Overlap int
	// KeepLinks indexes and reads the targets of links as well.
	KeepLinks bool
}

// Chunker returns the chunker for the cut.
func (c Cut) Chunker() (*chunk.Chunker, error) {
	splitter, err := chunk.Tokens(chunk.TokenOptions{Size: c.Size, Overlap: c.Overlap})
	if err != nil {
		return nil, err
	}
	o := chunk.Options{Splitter: splitter}
	if !c.KeepLinks {
		o.Clean = text.StripLinks
	}
	return chunk.New(o)
}
