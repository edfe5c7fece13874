// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"cmp"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// The defaults of Options.
const (
	DefaultMemory      = 256 << 20
	DefaultSegmentRows = 1 << 19
)

// Options of a store.
type Options struct {
	// Analyzer makes the words of texts and queries; nil means [text.Default].
	// Collections that were made with another cannot be opened.
	Analyzer text.Analyzer
	// Memory is how many bytes are held, about, before they are written as a segment
	// without waiting for Flush.
	Memory int
	// SegmentRows is the number of rows from which on a segment is not merged with
	// others.
	SegmentRows int
	// Workers is the number of goroutines of a search and of a flush; 0 means
	// GOMAXPROCS.
	Workers int
}

func (o Options) resolve() (Options, error) {
	c := opt.Checks{Of: "disk: options"}
	opt.Min(&c, "Memory", o.Memory, 0)
	opt.Min(&c, "SegmentRows", o.SegmentRows, 0)
	opt.Min(&c, "Workers", o.Workers, 0)
	if o.Analyzer == nil {
		o.Analyzer = text.Default()
	}
	o.Memory = cmp.Or(o.Memory, DefaultMemory)
	o.SegmentRows = cmp.Or(o.SegmentRows, DefaultSegmentRows)
	o.Workers = par.Workers(o.Workers)
	return o, c.Err()
}
