// SPDX-License-Identifier: Apache-2.0

package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// Submit stores documents with distinct IDs, and returns the job of indexing them. The same
// documents in the same order are the same job.
func (x *Index) Submit(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (Job, error) {
	s := submission{x: x, seen: make(map[string]bool)}
	for d, err := range docs {
		if err == nil {
			err = s.add(ctx, d)
		}
		if err != nil {
			return Job{}, fmt.Errorf("index: submit: %w", err)
		}
	}
	err := s.batch(ctx)
	if err == nil {
		err = s.page(ctx)
	}
	root, rootErr := keep(ctx, x.work, s.pages, len(s.seen))
	if err = errors.Join(err, rootErr); err != nil {
		return Job{}, fmt.Errorf("index: submit: %w", err)
	}
	return Job{Plan: x.Plan(), Root: root, Pages: s.pages}, nil
}

// submission groups documents into batches, and batches into pages.
type submission struct {
	x       *Index
	seen    map[string]bool
	docs    []graphrag.Document
	bytes   int
	batches []Batch
	pages   []Batch
}

func (s *submission) add(ctx context.Context, d graphrag.Document) error {
	if s.seen[d.ID] {
		return fmt.Errorf("document %.80q comes twice", d.ID)
	}
	s.seen[d.ID] = true
	s.docs, s.bytes = append(s.docs, d), s.bytes+len(d.Text)
	if len(s.docs) < s.x.o.Batch && s.bytes < maxBytes {
		return nil
	}
	return s.batch(ctx)
}

func (s *submission) batch(ctx context.Context) error {
	if len(s.docs) == 0 {
		return nil
	}
	b, err := keepAll(ctx, s.x.work, s.docs)
	if err != nil {
		return err
	}
	s.batches, s.docs, s.bytes = append(s.batches, b), nil, 0
	if len(s.batches) < maxPage {
		return nil
	}
	return s.page(ctx)
}

func (s *submission) page(ctx context.Context) error {
	if len(s.batches) == 0 {
		return nil
	}
	b, err := keep(ctx, s.x.work, s.batches, len(s.batches))
	s.pages, s.batches = append(s.pages, b), nil
	return err
}

// documents returns the batches of a page.
func (x *Index) documents(ctx context.Context, t Task) (Done, error) {
	batches, err := thing[[]Batch](ctx, x.work, t.Batch.Ref)
	n := 0
	for _, b := range batches {
		n += b.N
	}
	return Done{Next: [][]Batch{batches}, Items: n}, err
}

// cut cuts documents into chunks, and returns batches of these.
func (x *Index) cut(ctx context.Context, t Task) (Done, error) {
	refs, err := thing[[]string](ctx, x.work, t.Batch.Ref)
	if err != nil {
		return Done{}, err
	}
	docs, err := list[graphrag.Document](ctx, x.work, refs)
	if err != nil {
		return Done{}, err
	}
	var all []graphrag.Chunk
	for _, d := range docs {
		chunks, err := x.chunker.Document(ctx, d)
		if err != nil {
			return Done{}, err
		}
		all = append(all, chunks...)
	}
	done := Done{Items: len(all), Next: [][]Batch{{}}}
	for some := range slices.Chunk(all, x.o.Batch) {
		b, err := keepAll(ctx, x.work, some)
		if err != nil {
			return Done{}, err
		}
		done.Next[0] = append(done.Next[0], b)
	}
	return done, nil
}

// extracted returns the reference of the extraction of a chunk, which depends on the root if the
// extractor learns from the corpus.
func (x *Index) extracted(chunk, root string) string {
	if !x.extract.Whole {
		root = ""
	}
	return refOf(x.settings[Extract], chunk, root)
}

// extractFrom extracts from chunks. A task over everything has no next batches.
func (x *Index) extractFrom(ctx context.Context, t Task) (Done, error) {
	of, next := x.chunks, [][]Batch{{t.Batch}}
	if x.extract.Whole {
		of, next = x.everything, nil
	}
	refs, chunks, err := of(ctx, t.Batch)
	if err != nil {
		return Done{}, err
	}
	found, err := x.extract.Extract(ctx, chunks)
	if err != nil {
		return Done{}, err
	}
	done := Done{Items: len(found), Next: next}
	rs := make([]store.Record, len(found))
	for i := range found {
		if slices.ContainsFunc(found[i].Problems, func(p kg.Problem) bool { return p.Kind == kg.ProblemChunk || p.Kind == kg.ProblemRefused }) {
			done.Failed++
		}
		if rs[i], err = record(x.extracted(refs[i], t.Root), found[i]); err != nil {
			return Done{}, err
		}
	}
	for part := range slices.Chunk(rs, maxPage) {
		if err := x.work.put(ctx, things, part...); err != nil {
			return Done{}, err
		}
	}
	return done, nil
}

// vectorRef returns the reference of the vector of a text.
func (x *Index) vectorRef(text string) string { return refOf(x.settings[Embed], text) }

// embed makes the vectors of chunks with their titles that are not stored yet.
func (x *Index) embed(ctx context.Context, t Task) (Done, error) {
	_, chunks, err := x.chunks(ctx, t.Batch)
	if err != nil {
		return Done{}, err
	}
	done := Done{Items: len(chunks), Next: [][]Batch{{t.Batch}}, Usage: llm.Usage{Estimated: true}}
	texts := slices.Collect(retrieve.TitledTexts(chunks).All())
	refs := make([]string, len(texts))
	for i := range texts {
		refs[i] = x.vectorRef(texts[i])
		done.Usage.EmbeddedTokens += x.kit.Count(texts[i])
	}
	there, err := x.work.get(ctx, things, refs...)
	if err != nil {
		return Done{}, err
	}
	var missing, ask []string
	for i, ref := range refs {
		if there[ref] == nil && !slices.Contains(missing, ref) {
			missing, ask = append(missing, ref), append(ask, texts[i])
		}
	}
	if len(ask) == 0 {
		return done, nil
	}
	return done, x.work.call(ctx, x.process, refOf(missing), func() (kept bool, err error) {
		rows, err := x.o.Embedder.EmbedDocuments(ctx, ask)
		if err == nil {
			err = transport.CheckVectors(ask, rows)
		}
		if err == nil && len(rows[0]) != x.o.Dim {
			err = fmt.Errorf("the embedder gives vectors of %d components, and Dim is %d: %w", len(rows[0]), x.o.Dim, store.ErrMismatch)
		}
		if err != nil {
			return false, err
		}
		rs := make([]store.Record, len(rows))
		for i, row := range rows {
			rs[i].ID = missing[i]
			rs[i].Data, _ = binary.Append(nil, binary.LittleEndian, row) // numbers can be written
		}
		err = x.work.put(context.WithoutCancel(ctx), things, rs...)
		return err == nil, err
	})
}

// write writes chunks to the index.
func (x *Index) write(ctx context.Context, t Task) (Done, error) {
	_, chunks, err := x.chunks(ctx, t.Batch)
	if err != nil {
		return Done{}, err
	}
	rs := make([]store.Record, len(chunks))
	refs := make([]string, len(chunks))
	for i := range chunks {
		rs[i] = retrieve.ToRecord(chunks[i])
		refs[i] = x.vectorRef(retrieve.Titled(chunks[i]))
	}
	if x.o.Embedder != nil {
		rows, err := x.work.get(ctx, things, refs...)
		if err != nil {
			return Done{}, err
		}
		for i, ref := range refs {
			rs[i].Vector = make([]float32, len(rows[ref])/4)
			if _, err := binary.Decode(rows[ref], binary.LittleEndian, rs[i].Vector); err != nil || len(rs[i].Vector) == 0 {
				return Done{}, fmt.Errorf("%w: the vector of chunk %.80q", errGone, chunks[i].ID)
			}
		}
	}
	table, err := x.table(ctx, t.Root, "chunks")
	if err == nil {
		err = table.Put(ctx, rs...)
	}
	return Done{Items: len(rs)}, err
}
