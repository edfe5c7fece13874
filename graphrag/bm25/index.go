// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Index is a BM25 index, in memory or in a folder that is mapped there. It is
// immutable and safe for concurrent use.
type Index struct {
	inverted
	alone *Collection // of this index
}

func newIndex(o Options, terms *text.Vocabulary, lengths []uint32) *Index {
	ix := &Index{inverted: newInverted(o, terms, lengths)}
	ix.alone = collect([]*Index{ix})
	return ix
}

// Len returns the number of documents.
func (ix *Index) Len() int { return len(ix.lengths) }

// Analyzer returns the analyzer of the texts.
func (ix *Index) Analyzer() text.Analyzer { return ix.options.Analyzer }

// alike returns an error if indexes cannot be combined.
func alike(parts []*Index) error {
	settings := func(ix *Index) string {
		o := ix.options
		return fmt.Sprintf("k1 %g, b %g, titles %d, analyzer %s", o.K1, o.B, o.TitleWeight, o.Analyzer.Name())
	}
	total := 0
	for i, p := range parts {
		if a, b := settings(parts[0]), settings(p); a != b {
			return fmt.Errorf("index %d has other options than the first: %s and %s", i+1, b, a)
		}
		total += p.Len()
	}
	if total > math.MaxInt32 {
		return fmt.Errorf("%d documents: split them over several indexes of at most %d", total, math.MaxInt32)
	}
	return nil
}

// The defaults of [Options]: k1 and b follow Robertson and Zaragoza, "The Probabilistic Relevance
// Framework: BM25 and Beyond" (2009), section 3.2, as Lucene has them.
const (
	DefaultK1 = 1.2
	DefaultB  = 0.75
)

// Zero sets K1 or B to 0, because the value 0 means the default. No score differs
// in any digit from the score with a true 0.
const Zero = 1e-30

// Options of an index. The zero value is k1 1.2 and b 0.75 over English stems
// without stop words, titles not counted.
type Options struct {
	// K1 is the saturation of term frequencies: the larger, the more repetitions count; 0 means
	// [DefaultK1].
	K1 float64
	// B is the normalisation by length, up to 1; 0 means [DefaultB].
	B float64
	// Analyzer makes the terms of texts, titles and queries; nil means [text.Default].
	Analyzer text.Analyzer
	// TitleWeight counts a title as if its words stood that many times more in the text of each chunk, for
	// the term frequencies as for the length. 0 leaves titles out.
	TitleWeight int
}

// Plain returns the options of the plain definition that baselines are
// compared on: k1 1.2, b 0.75, [text.Plain] words, no title.
func Plain() Options {
	return Options{K1: DefaultK1, B: DefaultB, Analyzer: text.Plain()}
}

// maxTitleWeight keeps term frequencies within their integers.
const maxTitleWeight = 1000

// Defaults returns the options with the defaults in place of zero values.
func (o Options) Defaults() Options {
	o.K1, o.B = cmp.Or(o.K1, DefaultK1), cmp.Or(o.B, DefaultB)
	return o
}

// resolve fills in the defaults and reports everything that is wrong.
func (o Options) resolve() (Options, error) {
	c := opt.Checks{Of: "bm25"}
	opt.Min(&c, "K1", o.K1, 0)
	opt.Range(&c, "B", o.B, 0, 1)
	opt.Range(&c, "TitleWeight", o.TitleWeight, 0, maxTitleWeight)
	o = o.Defaults()
	if o.Analyzer == nil {
		o.Analyzer = text.Default()
	}
	return o, c.Err()
}

// The kind and version of folders.
const (
	folderKind    = "bm25"
	folderVersion = 1
)

// folderMeta is the metadata of a folder.
type folderMeta struct {
	K1          float64 `json:"k1"`
	B           float64 `json:"b"`
	TitleWeight int     `json:"title_weight"`
	Analyzer    string  `json:"analyzer"`
	// Large are the frequencies that do not fit their byte: term, document, frequency.
	Large [][3]uint32 `json:"large"`
}

// Open opens an index that [Merge] wrote, in place: its arrays are mapped into memory and read as they are
// needed. The analyzer must be the one that the index was built with; nil means [text.Default]. A folder
// that is not an index, not whole or of another version gives an error that wraps [ErrFolder].
func Open(dir string, a text.Analyzer) (*Index, error) {
	var meta folderMeta
	folder, err := flat.Open(dir, folderKind, folderVersion, &meta)
	if err != nil {
		return nil, fmt.Errorf("bm25: open index: %w", err)
	}
	ix, err := open(folder, meta, a)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("bm25: open index: %s: %w", dir, err), folder.Close())
	}
	return ix, nil
}

// ErrFolder is wrapped by the errors of [Open] about damaged or foreign folders.
var ErrFolder = flat.ErrFormat

func open(folder *flat.Folder, meta folderMeta, a text.Analyzer) (*Index, error) {
	o, err := Options{K1: meta.K1, B: meta.B, TitleWeight: meta.TitleWeight, Analyzer: a}.resolve()
	if err != nil {
		return nil, err
	}
	if name := o.Analyzer.Name(); name != meta.Analyzer {
		return nil, fmt.Errorf("its analyzer is %q, this one %q: open it with the other, or build it again", meta.Analyzer, name)
	}
	var errs []error
	lengths := view[uint32](folder, "lengths", &errs)
	arena, ends := view[byte](folder, "terms", &errs), view[int](folder, "ends", &errs)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	var terms text.Vocabulary
	terms.Map(arena, ends)
	ix := newIndex(o, &terms, lengths)
	ix.folder = folder
	ix.entries, ix.blocks = view[entry](folder, "entries", &errs), view[block](folder, "blocks", &errs)
	ix.docs, ix.tfs = view[uint16](folder, "docs", &errs), view[uint8](folder, "tfs", &errs)
	ix.columns, ix.maxima = view[uint8](folder, "columns", &errs), view[float32](folder, "maxima", &errs)
	for _, l := range meta.Large {
		ix.large[key(int(l[0]), l[1])] = l[2]
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	err = ix.fits()
	folder.Scattered() // after the arrays that are read whole
	return ix, err
}

func view[T any](f *flat.Folder, name string, errs *[]error) []T {
	v, err := flat.View[T](f, name)
	if err != nil {
		*errs = append(*errs, err)
	}
	return v
}

// fits checks that the lengths of the arrays agree.
func (ix *Index) fits() error {
	columns := uint64(0)
	for _, e := range ix.entries {
		if e.blocks == 0 {
			columns = max(columns, uint64(e.first)+1)
		}
	}
	if len(ix.entries) != ix.terms.Len() || len(ix.blocks) == 0 || ix.blocks[len(ix.blocks)-1].start != uint64(len(ix.docs)) ||
		len(ix.docs) != len(ix.tfs) || uint64(len(ix.columns)) != columns*uint64(len(ix.lengths)) || uint64(len(ix.maxima)) != columns*uint64(ix.windows()) {
		return fmt.Errorf("%w: its arrays do not fit each other; build it again", ErrFolder)
	}
	return nil
}

// Close releases an index in a folder. An index in memory needs no Close.
func (ix *Index) Close() error {
	if ix.folder == nil {
		return nil
	}
	return ix.folder.Close()
}
