// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Options are the options of a [Chunker].
type Options struct {
	// Splitter cuts the text of a document. Nil means Tokens(TokenOptions{}).
	Splitter Splitter
	// Clean, if set, is applied to the text before it is cut, and tells where
	// what it kept came from. [text.StripLinks] is one.
	Clean func(string) (string, text.Mapping)
	// Lead, if set, says what a piece that begins at an offset of the (cleaned) text
	// needs to be understood: it becomes Chunk.Lead. load.Lead is one.
	Lead func(text string, at int) string
	// Name, if set, tells apart what cuts: of chunkers with equal names, each cuts a
	// document as the others do, and one does it for all of them (graphrag/memo).
	Name string
	// Workers is how many documents are cut at a time; 0 means one for each
	// processor. The result does not depend on it.
	Workers int
}

// Chunker cuts documents into chunks.
type Chunker struct {
	splitter Splitter
	clean    func(string) (string, text.Mapping)
	lead     func(string, int) string
	name     string
	workers  int
}

// cut is the key of a document's chunks.
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
	return &Chunker{o.Splitter, o.Clean, o.Lead, o.Name, o.Workers}, nil
}

// Document cuts one document. Its chunks are numbered from 0 in the order of
// the text; the ID of one is that of the document, "#", and the number with at
// least six digits. Start and End are offsets into doc.Text even if the text
// was cleaned; Text is the cleaned text then, and otherwise shares the memory
// of doc.Text. Chunks of white space alone are left out.
func (c *Chunker) Document(ctx context.Context, doc graphrag.Document) ([]graphrag.Chunk, error) {
	if doc.ID == "" {
		return nil, fmt.Errorf("chunk: document %q has no ID", doc.Title)
	}
	if c.name == "" {
		return c.document(ctx, doc)
	}
	key := cut{c.name, memo.DigestOf(slices.Values([]string{doc.ID, doc.Title, doc.Text}))}
	chunks, err := memo.Of(ctx, key, func() ([]graphrag.Chunk, error) { return c.document(ctx, doc) })
	return slices.Clone(chunks), err
}

func (c *Chunker) document(ctx context.Context, doc graphrag.Document) ([]graphrag.Chunk, error) {
	body := doc.Text
	var mapping text.Mapping
	if c.clean != nil {
		body, mapping = c.clean(body)
	}
	spans, err := c.splitter.Split(ctx, body)
	if err != nil {
		return nil, fmt.Errorf("chunk: split document %q: %w", doc.ID, err)
	}
	if len(body) != len(doc.Text) { // of its own: without what it grew by
		body = strings.Clone(body)
	}
	// Titles are often a part of the text, all of which they would hold.
	id, title := strings.Clone(doc.ID), strings.Clone(doc.Title)
	chunks := make([]graphrag.Chunk, 0, len(spans))
	for _, p := range spans {
		piece := body[p.Start:p.End]
		if strings.TrimSpace(piece) == "" {
			continue
		}
		source := mapping.Span(text.Span{Start: p.Start, End: p.End})
		lead := ""
		if c.lead != nil {
			lead = c.lead(body, p.Start)
		}
		chunks = append(chunks, graphrag.Chunk{
			ID:     chunkID(id, len(chunks)),
			Doc:    id,
			Title:  title,
			Index:  len(chunks),
			Start:  source.Start,
			End:    source.End,
			Text:   piece,
			Lead:   lead,
			Tokens: p.Tokens,
		})
	}
	return chunks, nil
}

// chunkID returns doc, "#", and n with at least six digits.
func chunkID(doc string, n int) string {
	b := append(make([]byte, 0, 128), doc...)
	b = append(b, '#')
	for limit := 100_000; n < limit && limit > 1; limit /= 10 {
		b = append(b, '0')
	}
	return string(strconv.AppendInt(b, int64(n), 10))
}

// All cuts a stream of documents, several at a time, and returns the chunks in
// the order of the stream. It stops at the first error of the stream or of a
// document, at a document ID that comes twice, and when ctx is cancelled.
func (c *Chunker) All(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) ([]graphrag.Chunk, error) {
	var (
		stream []graphrag.Document
		seen   = make(map[string]bool)
		last   error // what ended the stream early
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
	cut := make([][]graphrag.Chunk, len(stream))
	err := par.Each(ctx, len(stream), c.workers, func(i int) (err error) {
		cut[i], err = c.Document(ctx, stream[i])
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("chunk: cut documents: %w", err)
	case err != nil || last != nil:
		return nil, cmp.Or(err, last) // the first in the stream
	}
	return slices.Concat(cut...), nil
}
