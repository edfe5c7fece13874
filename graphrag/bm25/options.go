// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// The defaults of [Options]: k1 and b are those of Robertson and Zaragoza,
// "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), section
// 3.2, as Lucene has them.
const (
	DefaultK1 = 1.2
	DefaultB  = 0.75
)

// Zero stands for a K1 or B of 0, because 0 itself means the default. No score
// differs in any digit from that of a true 0.
const Zero = 1e-30

// Options of an index. The zero value is k1 1.2 and b 0.75 over English stems
// without stop words, titles not counted.
type Options struct {
	// K1 is how slowly repetitions of a term saturate; 0 means [DefaultK1].
	K1 float64
	// B is how much long texts are discounted, up to 1; 0 means [DefaultB].
	B float64
	// Analyzer makes the terms of texts, titles and queries; nil means
	// [text.Default].
	Analyzer text.Analyzer
	// TitleWeight counts a title as if its words stood that many times more
	// in the text of each chunk, for the term frequencies as for the length.
	// 0 leaves titles out.
	TitleWeight int
	// Progress, if set, is called with how many of the texts have been analyzed.
	// Calls do not overlap.
	Progress func(done, total int)
}

// Plain returns the options of the plain definition that baselines are
// compared on: k1 1.2, b 0.75, [text.Plain] words, no title.
func Plain() Options {
	return Options{K1: DefaultK1, B: DefaultB, Analyzer: text.Plain()}
}

// maxTitleWeight keeps term frequencies within their integers.
const maxTitleWeight = 1000

// resolve fills in the defaults and reports everything that is wrong.
func (o Options) resolve() (Options, error) {
	c := opt.Checks{Of: "bm25"}
	opt.Min(&c, "K1", o.K1, 0)
	opt.Range(&c, "B", o.B, 0, 1)
	opt.Range(&c, "TitleWeight", o.TitleWeight, 0, maxTitleWeight)
	o.K1, o.B = cmp.Or(o.K1, DefaultK1), cmp.Or(o.B, DefaultB)
	if o.Analyzer == nil {
		o.Analyzer = text.Default()
	}
	return o, c.Err()
}
