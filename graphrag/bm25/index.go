// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
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

// The kind and the version in the header of an index that is saved as a folder.
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

// Each worker analyzes one batch of this many bytes of text. More batches would spread better over
// busy processors, but every batch builds its own vocabulary.
const (
	leastBytes = 1 << 20
	mostBytes  = 1 << 26
)

// Build indexes the texts of the chunks, and their titles where the options say so. Documents of the index
// are positions in chunks; kg.Graph numbers passages by the IDs of chunks. Work is spread over GOMAXPROCS
// goroutines; the index does not depend on their number. A cancelled build returns the context's error.
func Build(ctx context.Context, chunks []graphrag.Chunk, o Options) (*Index, error) {
	return build(ctx, len(chunks), func(i int) (string, string) { return chunks[i].Title, chunks[i].Text }, o, mostBytes)
}

// BuildTexts is [Build] for texts without titles.
func BuildTexts(ctx context.Context, texts []string, o Options) (*Index, error) {
	return BuildList(ctx, text.Strings(texts), o)
}

// BuildList is [BuildTexts] for texts that are generated when they are read. Each is read at most twice.
func BuildList(ctx context.Context, texts text.List, o Options) (*Index, error) {
	return build(ctx, texts.Len(), func(i int) (string, string) { return "", texts.At(i) }, o, mostBytes)
}

// build indexes n texts that at returns, in batches of about the given size at most.
func build(ctx context.Context, n int, at func(i int) (title, text string), o Options, most int) (*Index, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("bm25: build: %d texts: split them over several indexes of at most %d", n, math.MaxInt32)
	}
	batches, err := analyze(ctx, n, at, o, most)
	if err != nil {
		return nil, fmt.Errorf("bm25: build: %w", err)
	}
	ix, err := invert(ctx, n, batches, o)
	if err != nil {
		return nil, fmt.Errorf("bm25: build: %w", err)
	}
	return ix, nil
}

// batch is the analysis of a run of documents. Terms are numbered within the
// batch, in the order of their first appearance.
type batch struct {
	first    uint32   // document
	lengths  []uint32 // of the documents, in terms
	terms    *text.Vocabulary
	postings []posting         // term by term
	ends     []uint32          // ends[t] is where the postings of term t end
	large    map[uint64]uint32 // frequencies of largeTF and more, by key, documents from the first
}

// analyze cuts the documents into batches and analyzes them concurrently.
func analyze(ctx context.Context, n int, at func(int) (string, string), o Options, most int) ([]*batch, error) {
	starts, share := cut(n, at, most)
	batches := make([]*batch, len(starts)-1)
	err := par.Each(ctx, len(batches), 0, func(b int) error {
		a := newAnalysis(ctx, o, starts[b], share/bytesOfPosting)
		for i := starts[b]; i < starts[b+1]; i++ {
			a.document(at(i))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		batches[b] = a.done()
		return nil
	})
	return batches, err
}

// measured limits how many texts are sampled to estimate the sizes of batches: a text.List may
// generate a text on every read.
const measured = 1 << 8

// cut returns where the batches of documents start, and n, and about how many bytes they have:
// as many as if those between the measured ones were of their lengths.
func cut(n int, at func(int) (string, string), most int) (starts []int, share int) {
	step := n/measured + 1
	sizes := make([]int, 0, min(n, measured))
	total := 0
	for i := 0; i < n; i += step {
		_, body := at(i)
		sizes = append(sizes, step*len(body))
		total += step * len(body)
	}
	share = min(max(total/par.Workers(0), leastBytes), most)
	size := share
	for i, s := range sizes {
		if size >= share || (i+1)*step-starts[len(starts)-1] > mostBatch {
			starts, size = append(starts, i*step), 0
		}
		size += s
	}
	return append(starts, n), min(share, total)
}

// analysis is the state of analyzing a batch.
type analysis struct {
	batch
	titleWeight uint32
	numbers     *text.Numbering
	found       []uint64 // the postings, behind their terms in the higher half
	ctx         context.Context
	count       func(terms []int32) bool // countTerms, bound once
	last        []uint64                 // document, from 1, of each term, behind words without one, and where it was found
	seen        []found                  // in the document
	distinct    int                      // how many these are
	weight      uint32                   // what the word being read counts
}

// found is a term with its frequency in a document.
type found struct {
	term int32
	tf   uint32
}

// bytesOfPosting estimates the bytes of text per posting, to size buffers: 8 in short passages of
// web pages, 14 in long ones.
const bytesOfPosting = 8

func newAnalysis(ctx context.Context, o Options, first, postings int) *analysis {
	a := &analysis{ctx: ctx, numbers: new(text.Vocabulary).Numbering(o.Analyzer), titleWeight: uint32(o.TitleWeight)}
	a.batch = batch{first: uint32(first), terms: a.numbers.Terms(), large: map[uint64]uint32{}}
	a.found = make([]uint64, 0, postings)
	a.count = a.countTerms
	return a
}

// document adds one document.
func (a *analysis) document(title, body string) {
	a.weight = 1
	a.numbers.Text(body, a.count)
	if a.titleWeight > 0 {
		a.weight = a.titleWeight
		a.numbers.Text(title, a.count)
	}
	doc, length := uint32(len(a.lengths)), uint32(0)
	for i, f := range a.seen[:a.distinct] {
		a.seen[i].tf = 0
		if f.term < 0 {
			continue
		}
		length += f.tf
		if f.tf >= largeTF {
			a.large[key(int(f.term), doc)] = f.tf
		}
		a.found = append(a.found, uint64(f.term)<<32|uint64(doc<<tfBits|min(f.tf, largeTF)))
	}
	a.lengths, a.distinct = append(a.lengths, length), 0
}

// countTerms counts terms of the document. It stops when the context has ended, since a
// document may be large.
func (a *analysis) countTerms(terms []int32) bool {
	doc := uint64(len(a.lengths)) + 1
	a.last = atLeast(a.last, a.terms.Len()+1)
	a.seen = atLeast(a.seen, a.distinct+len(terms))
	last, all, n, weight := a.last, a.seen, uint64(a.distinct), a.weight
	for _, t := range terms { // branch-free: whether a term repeats is unpredictable
		was := last[t+1]
		again := ((was>>32 ^ doc) - 1) >> 63 // 1 in the same document
		at := n ^ (n^was&math.MaxUint32)&-again
		last[t+1] = doc<<32 | at
		f := &all[at]
		f.term = t
		f.tf += weight
		n += 1 - again
	}
	a.distinct = int(n)
	return a.ctx.Err() == nil
}

// atLeast grows a list to at least the given length.
func atLeast[T any](list []T, n int) []T {
	if n <= len(list) {
		return list
	}
	list = slices.Grow(list, max(n-len(list), len(list)))
	return list[:cap(list)]
}

// done returns the batch, with the postings in the order of their terms.
func (a *analysis) done() *batch {
	b := a.batch
	b.postings, b.ends = make([]posting, len(a.found)), make([]uint32, a.terms.Len())
	for _, x := range a.found {
		b.ends[x>>32]++
	}
	start := uint32(0)
	for t, df := range b.ends {
		b.ends[t] = start
		start += df
	}
	for _, x := range a.found {
		to := &b.ends[x>>32]
		b.postings[*to] = posting(x)
		*to++
	}
	return &b
}

// posting is a document, numbered from the first of its batch, and the frequency of a term
// in tfBits bits: largeTF marks a frequency that is stored separately.
type posting uint32

const (
	tfBits    = 8
	mostBatch = 1 << (32 - tfBits) // documents
)

func (p posting) doc() uint32 { return uint32(p) >> tfBits }
func (p posting) tf() uint32  { return uint32(p) & largeTF }
