// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// content reads the data from which a system is built: the documents that meet a condition, their extractions
// if these are used, and all replies.
func (p *pinned) content(ctx context.Context, meets func(graphrag.Fields) bool, used bool) (*content, error) {
	c := &content{docs: newLibrary(), extracted: make(map[string][]kg.Extraction), unread: make(map[string]bool), replies: newReplies()}
	docs := make(map[string][]graphrag.Chunk)
	meeting := func(r store.Record) bool { return meets == nil || meets(r.Fields) }
	err := decoded(ctx, p.chunks, meeting, store.Record.Chunk, func(one graphrag.Chunk) error {
		docs[one.Doc], c.unread[one.ID] = append(docs[one.Doc], one), true
		return nil
	})
	for _, id := range slices.Sorted(maps.Keys(docs)) { // a tree is filled faster in its order
		c.docs.put(id, docs[id])
	}
	if err == nil && used {
		err = decoded(ctx, p.extractions, func(r store.Record) bool {
			there := c.unread[r.ID] // otherwise the chunk is of another document
			delete(c.unread, r.ID)
			return there
		}, lineOf, c.add)
	}
	if err == nil {
		err = decoded(ctx, p.replies, func(store.Record) bool { return true }, lineOf, c.add)
	}
	return c, err
}

// lineOf decodes an extraction or a reply.
func lineOf(r store.Record) (line record, err error) {
	err = json.Unmarshal(r.Data, &line)
	return line, err
}

// decoded decodes the wanted records of a table on several goroutines, and calls take for each in their order.
func decoded[T any](ctx context.Context, t store.Table, wanted func(store.Record) bool, decode func(store.Record) (T, error), take func(T) error) error {
	some, made := make([]store.Record, 0, atOnce), make([]T, atOnce)
	end := func() error {
		err := par.Each(ctx, len(some), 0, func(i int) (err error) {
			made[i], err = decode(some[i])
			return err
		})
		for i := 0; i < len(some) && err == nil; i++ {
			err = take(made[i])
		}
		some = some[:0]
		return err
	}
	for r, err := range t.All(ctx, "") {
		if err == nil && wanted(r) {
			if some = append(some, r); len(some) == atOnce {
				err = end()
			}
		}
		if err != nil {
			return err
		}
	}
	return end()
}

// build builds the state of the content; its chunks are read from a table. The extractions of a whole extractor
// are used only if the content is a complete published one.
func (c *content) build(ctx context.Context, f Frame, from *source, published bool) (*state, error) {
	d, err := c.draft(f, newHistory())
	if err != nil {
		return nil, err
	}
	d.fresh = slices.DeleteFunc(c.docs.sorted(), func(one graphrag.Chunk) bool { return !c.unread[one.ID] })
	d.source, d.read = from, published && len(d.fresh) == 0
	c.replies.begin()
	st, err := d.build(c.replies.with(metering.WithStage(ctx, "index")), f)
	if err == nil {
		c.replies.prune()
	}
	return st, err
}

// built builds the state of a generation, and stores its extractions and replies in the generation. A fresh
// generation takes replies from the published one.
func (s *System) built(ctx context.Context, g store.Generation, fresh bool) (*state, error) {
	p, err := open(ctx, g)
	if err != nil {
		return nil, err
	}
	c, err := p.content(ctx, nil, !s.frame.Extract.Whole)
	if err != nil {
		return nil, err
	}
	before := slices.Collect(maps.Keys(c.replies.all))
	if now := s.now.Load(); fresh && now != nil {
		old, err := now.pinned.content(ctx, func(graphrag.Fields) bool { return false }, false)
		if err != nil {
			return nil, err
		}
		c.replies = old.replies
		c.replies.fresh = slices.Collect(maps.Keys(old.replies.all))
	}
	st, err := c.build(ctx, s.frame, &source{p.chunks}, false)
	if err != nil {
		return nil, err
	}
	if err = cmp.Or(s.keep(ctx, p, c, st.base, before), g.Flush(ctx)); err != nil {
		return nil, errors.Join(err, st.release())
	}
	return st, nil
}

// keep puts the extractions and replies that were made since the content was read, and deletes the replies that
// are no longer used.
func (s *System) keep(ctx context.Context, p *pinned, c *content, base *kg.Base, before []replyKey) error {
	made := make(map[string]record)
	var gone []string
	for _, key := range c.replies.fresh {
		if r, ok := c.replies.record(key); ok {
			made[key.String()] = r
		}
	}
	for _, key := range before {
		if _, ok := c.replies.record(key); !ok {
			gone = append(gone, key.String())
		}
	}
	if err := errors.Join(putAll(ctx, p.replies, made), p.replies.Delete(ctx, gone...)); err != nil || base == nil {
		return err
	}
	clear(made)
	for x := range base.Extractions() {
		made[x.Chunk] = record{Extraction: &x}
	}
	for r, err := range p.extractions.All(ctx, "") {
		if err != nil {
			return err
		}
		if data, _ := json.Marshal(made[r.ID]); bytes.Equal(data, r.Data) {
			delete(made, r.ID) // it is stored already
		}
	}
	return putAll(ctx, p.extractions, made)
}

// putAll puts records in batches.
func putAll(ctx context.Context, t store.Table, made map[string]record) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(made)), atOnce) {
		records := make([]store.Record, len(ids))
		for i, id := range ids {
			data, _ := json.Marshal(made[id]) // a record always encodes
			records[i] = store.Record{ID: id, Data: data}
		}
		if err := t.Put(ctx, records...); err != nil {
			return err
		}
	}
	return nil
}

// exactly is the largest number of vectors that are all compared with a query. Of more vectors a search
// compares a share, and its recall is measured.
var exactly = 500_000

// dimOf returns the length of the vectors of an embedder.
func dimOf(ctx context.Context, k Kit, e embed.Embedder) (int, error) {
	if k.Dim > 0 {
		return k.Dim, nil
	}
	row, err := e.EmbedQuery(ctx, "length")
	return len(row), err
}

// stored returns a retriever that ranks the chunks in the store that meet a condition.
func (s *System) stored(p *pinned, where graphrag.Condition) (r graphrag.Retriever, err error) {
	t := retrieve.Stored{Table: p.chunks, Where: where, Effort: 1}
	if p.contents.Chunks > exactly {
		t.Effort = 0
	}
	var words, vectors graphrag.Retriever
	if s.frame.Words != nil {
		words = t.Sparse()
	}
	if s.tables.embedder != nil {
		vectors = t.Dense(s.tables.embedder)
	}
	if s.frame.Combine != nil {
		r, err = s.frame.Combine(s.tables.corpus, words, vectors)
	} else {
		r, err = retrieve.PerDoc(cmp.Or(words, vectors), s.frame.MaxPerDoc)
	}
	return s.frame.reranked(r), err
}

// measure sets the recall of searches by vectors, again when the number of chunks has doubled or halved. It
// compares the ten nearest chunks of a usual search and of an exact one.
func (s *System) measure(ctx context.Context, p *pinned) error {
	const samples, nearest = 32, 10
	c := &p.contents
	switch {
	case s.tables.embedder == nil || c.Chunks <= exactly:
		c.Recall, c.Measured = 0, 0
		return nil
	case c.Recall > 0 && c.Chunks < 2*c.Measured && 2*c.Chunks > c.Measured:
		return nil
	}
	if err := p.generation.Flush(ctx); err != nil {
		return err
	}
	var asked []store.VectorQuery
	n := 0
	for r, err := range p.chunks.All(ctx, "") {
		if err != nil {
			return err
		}
		if n++; n%max(1, c.Chunks/samples) == 0 {
			asked = append(asked, store.VectorQuery{Vector: r.Vector, K: nearest})
		}
	}
	approximate, err := p.chunks.SearchVectors(ctx, asked...)
	if err != nil {
		return err
	}
	for i := range asked {
		asked[i].Effort = 1
	}
	exact, err := p.chunks.SearchVectors(ctx, asked...)
	found, all := 0, 0
	for i, hits := range exact {
		all += len(hits)
		for _, h := range hits {
			if slices.ContainsFunc(approximate[i], func(a store.Hit) bool { return a.ID == h.ID }) {
				found++
			}
		}
	}
	c.Recall, c.Measured = float64(found)/float64(max(all, 1)), c.Chunks
	return err
}

// records returns chunks as records of the table.
func (s *System) records(ctx context.Context, chunks []graphrag.Chunk) ([]store.Record, error) {
	records := make([]store.Record, len(chunks))
	for i, c := range chunks {
		records[i] = store.RecordOf(c)
	}
	if s.tables.embedder == nil {
		return records, nil
	}
	i := 0
	for rows, err := range embed.Batches(ctx, s.tables.embedder, retrieve.TitledTexts(chunks)) {
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			records[i].Vector = row
			i++
		}
	}
	return records, nil
}
