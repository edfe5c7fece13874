// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// Options are the options of a [Chunker].
type Options struct {
	// Splitter cuts the text of a document. Nil means Tokens(TokenOptions{}).
	Splitter Splitter
	// Clean, if set, is applied to the text before it is cut. It also returns the mapping of offsets to the
	// original text. [text.StripLinks] is such a function.
	Clean func(string) (string, text.Mapping)
	// Lead, if set, returns the text that a piece beginning at an offset of the (cleaned) text needs to be
	// understood; it becomes Chunk.Lead. load.Lead is such a function.
	Lead func(text string, at int) string
	// Name, if set, identifies how documents are cut: chunkers with equal names must cut alike, and one may
	// reuse the chunks of another (graphrag/memo).
	Name string
	// Workers is the number of documents cut concurrently; 0 means one per processor. It changes no result.
	Workers int
}

// Chunker cuts documents into chunks.
type Chunker struct{ o Options }

// cut is the cache key of a document's chunks.
type cut struct {
	name string
	doc  memo.Digest
}

// New returns a chunker. It fails if Workers is negative.
func New(o Options) (*Chunker, error) {
	c := opt.Checks{Of: "chunk"}
	opt.Min(&c, "Workers", o.Workers, 0)
	if o.Splitter == nil {
		var err error
		o.Splitter, err = Tokens(TokenOptions{})
		c.Add(err)
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	return &Chunker{o}, nil
}

// Document cuts one document. Its chunks are numbered from 0 in the order of the text; a chunk's ID is the
// document's ID, "#", and the number with at least six digits. Start and End are offsets into doc.Text even if
// the text was cleaned; Text is then the cleaned text, and otherwise shares the memory of doc.Text. Chunks of
// only white space are left out.
func (c *Chunker) Document(ctx context.Context, doc graphrag.Document) ([]graphrag.Chunk, error) {
	if doc.ID == "" {
		return nil, fmt.Errorf("chunk: document %q has no ID", doc.Title)
	}
	if c.o.Name == "" {
		return c.document(ctx, doc)
	}
	key := cut{c.o.Name, memo.DigestOf(slices.Values([]string{doc.ID, doc.Title, doc.Text}))}
	chunks, err := memo.Of(ctx, key, func() ([]graphrag.Chunk, error) { return c.document(ctx, doc) })
	chunks = slices.Clone(chunks)
	for i := range chunks { // fields do not change how a document is cut, so they are not in the key
		chunks[i].Fields = doc.Fields
	}
	return chunks, err
}

func (c *Chunker) document(ctx context.Context, doc graphrag.Document) ([]graphrag.Chunk, error) {
	body := doc.Text
	var mapping text.Mapping
	if c.o.Clean != nil {
		body, mapping = c.o.Clean(body)
	}
	spans, err := c.o.Splitter.Split(ctx, body)
	if err != nil {
		return nil, fmt.Errorf("chunk: split document %q: %w", doc.ID, err)
	}
	if len(body) != len(doc.Text) { // a copy, which has no spare capacity
		body = strings.Clone(body)
	}
	// A copy, because a title is often a slice of the text, whose memory it would keep.
	id, title := strings.Clone(doc.ID), strings.Clone(doc.Title)
	chunks := make([]graphrag.Chunk, 0, len(spans))
	for _, p := range spans {
		if p.Start < 0 || p.End < p.Start || p.End > len(body) {
			return nil, fmt.Errorf("chunk: document %q: the splitter gave the span %d to %d of a text of %d bytes", doc.ID, p.Start, p.End, len(body))
		}
		cutText := body[p.Start:p.End]
		if strings.TrimSpace(cutText) == "" {
			continue
		}
		source := mapping.Span(text.Span{Start: p.Start, End: p.End})
		lead := ""
		if c.o.Lead != nil {
			lead = c.o.Lead(body, p.Start)
		}
		chunks = append(chunks, graphrag.Chunk{
			ID: ID(id, len(chunks)), Doc: id, Title: title, Fields: doc.Fields, Index: len(chunks),
			Start: source.Start, End: source.End, Text: cutText, Lead: lead, Tokens: p.Tokens,
		})
	}
	return chunks, nil
}

// ID returns the ID of chunk n of a document: doc, "#", and n with at least six digits.
func ID(doc string, n int) string {
	digits := strconv.Itoa(n)
	return doc + "#" + "000000"[min(len(digits), 6):] + digits
}

// All cuts a stream of documents, several concurrently, and returns the chunks in the order of the stream. It
// stops at the first error of the stream or of a document, at a repeated ID, and when ctx is cancelled.
func (c *Chunker) All(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) ([]graphrag.Chunk, error) {
	var (
		stream []graphrag.Document
		seen   = make(map[string]bool)
		last   error // error that ended the stream early
	)
	for doc, err := range docs {
		switch {
		case err != nil:
			last = fmt.Errorf("chunk: read documents: %w", err)
		case seen[doc.ID]:
			last = fmt.Errorf("chunk: document %q comes twice: make the IDs unique", doc.ID)
		case ctx.Err() != nil:
			last = fmt.Errorf("chunk: cut documents: %w", ctx.Err())
		}
		if last != nil {
			break
		}
		seen[doc.ID] = true
		stream = append(stream, doc)
	}
	chunks := make([][]graphrag.Chunk, len(stream))
	err := par.Each(ctx, len(stream), c.o.Workers, func(i int) (err error) {
		chunks[i], err = c.Document(ctx, stream[i])
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("chunk: cut documents: %w", err)
	case err != nil || last != nil:
		return nil, cmp.Or(err, last) // an error of a document comes before the stream's
	}
	return slices.Concat(chunks...), nil
}

// Span is a piece of a text: the bytes Start to End-1. Tokens is its length in units of the splitter.
type Span struct{ Start, End, Tokens int }

// Splitter cuts a text into spans; the package comment lists its guarantees. It returns an error when ctx is
// cancelled; the splitters of this package also for a text of more than 715,827,882 bytes.
type Splitter interface {
	Split(ctx context.Context, text string) ([]Span, error)
}

// SplitterFunc makes a [Splitter] of a function.
type SplitterFunc func(ctx context.Context, text string) ([]Span, error)

// Split calls f.
func (f SplitterFunc) Split(ctx context.Context, text string) ([]Span, error) { return f(ctx, text) }

// The chunk size of Microsoft GraphRAG and LightRAG, in tokens, and the overlap of two neighbours.
const (
	DefaultSize    = 1200
	DefaultOverlap = 100
)

// TokenOptions are the options of [Tokens].
type TokenOptions struct {
	// Size is the length of a window in tokens of [tokens.Cl100k]; 0 means DefaultSize.
	Size int
	// Overlap is the number of tokens that two neighbours share, less than Size; 0 means a twelfth of Size
	// (DefaultOverlap for DefaultSize), [graphrag.Off] means none.
	Overlap int
}

// Tokens returns a splitter into windows of model tokens. A cut inside a rune is moved to the start of the
// rune; Span.Tokens is the number of the window's tokens in the tokenization of the whole text.
func Tokens(o TokenOptions) (Splitter, error) {
	o.Size = cmp.Or(o.Size, DefaultSize)
	switch o.Overlap {
	case 0:
		o.Overlap = o.Size * DefaultOverlap / DefaultSize
	case graphrag.Off:
		o.Overlap = 0
	}
	c := opt.Checks{Of: "chunk"}
	opt.Min(&c, "size", o.Size, 1)
	c.Want(o.Overlap >= 0 && o.Overlap < o.Size, "overlap", o.Overlap, fmt.Sprintf("0 or more and less than the size of %d, or the window never moves on", o.Size))
	if err := c.Err(); err != nil {
		return nil, err
	}
	return windows{o.Size, o.Overlap}, nil
}

// startsOf returns the start of each token of a text, and the length of the text; nothing for white space. It
// returns an error if 32-bit offsets do not suffice.
func startsOf(ctx context.Context, s string) ([]int32, error) {
	if len(s) > math.MaxInt32/3 { // an invalid byte becomes the three bytes of U+FFFD
		return nil, fmt.Errorf("chunk: text of %d bytes is too long: cut it into documents of at most %d", len(s), math.MaxInt32/3)
	}
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	starts, err := tokens.Cl100k().Starts(ctx, nil, s)
	if err != nil {
		return nil, err
	}
	starts[0] = 0
	return append(starts, int32(len(s))), nil
}

// windows cuts a text into windows of size tokens.
type windows struct{ size, overlap int }

// Split implements [Splitter].
func (w windows) Split(ctx context.Context, s string) ([]Span, error) {
	starts, err := startsOf(ctx, s)
	if starts == nil {
		return nil, err
	}
	units := len(starts) - 1
	stride := w.size - w.overlap
	spans := make([]Span, 0, 1+max(0, units-w.overlap-1)/stride)
	for first := 0; ; first += stride {
		last := min(first+w.size, units)
		spans = appendSpan(spans, Span{int(starts[first]), int(starts[last]), last - first})
		if last == units {
			return spans, nil // another window would contain only the overlap
		}
	}
}

// appendSpan appends a span unless it ends within the last one, which happens if all tokens of a window are
// parts of one rune.
func appendSpan(spans []Span, p Span) []Span {
	if n := len(spans); p.End <= p.Start || n > 0 && p.End <= spans[n-1].End {
		return spans
	}
	return append(spans, p)
}

// SentenceOptions are the options of [Sentences].
type SentenceOptions struct {
	// MaxTokens is the most tokens of a chunk, as [tokens.Cl100k] counts; 0 means DefaultSize.
	MaxTokens int
}

// Sentences returns a splitter that joins whole sentences, as found by [text.Sentences], up to a number of
// tokens. Only a longer sentence is cut, between tokens. Spans do not overlap; white space belongs to the
// sentence before it.
func Sentences(o SentenceOptions) (Splitter, error) {
	o.MaxTokens = cmp.Or(o.MaxTokens, DefaultSize)
	c := opt.Checks{Of: "chunk"}
	opt.Min(&c, "MaxTokens", o.MaxTokens, 1)
	if err := c.Err(); err != nil {
		return nil, err
	}
	return packer{o.MaxTokens}, nil
}

// packer joins sentences up to max tokens.
type packer struct{ max int }

// Split implements [Splitter].
func (p packer) Split(ctx context.Context, s string) ([]Span, error) {
	starts, err := startsOf(ctx, s)
	if starts == nil {
		return nil, err
	}
	all := len(starts) - 1
	var spans []Span
	// The current span is the bytes start to end-1, tokens first to last-1: sentences, or a long one's rest.
	start, first, end, last := 0, 0, 0, 0
	flush := func() {
		spans = appendSpan(spans, Span{start, end, max(1, last-first)})
		start, first = end, last
	}
	sentences := text.Sentences(s)
	for i := range sentences {
		next, nextToken := len(s), all // start of the next sentence, and its token
		if i+1 < len(sentences) {
			next, nextToken = sentences[i+1].Start, last
			for nextToken < all && int(starts[nextToken+1]) <= next {
				nextToken++
			}
		}
		if nextToken-first > p.max {
			flush()
		}
		for nextToken-first > p.max { // a single sentence that is too long
			last = first + p.max
			end = int(starts[last])
			flush()
		}
		end, last = next, nextToken
	}
	flush()
	return spans, nil
}
