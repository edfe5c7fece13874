// SPDX-License-Identifier: Apache-2.0

package langchain

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm"
)

// The keys of a document's metadata that stand for what a chunk has.
const (
	MetaID    = "id"     // Chunk.ID
	MetaDoc   = "source" // Chunk.Doc
	MetaTitle = "title"
)

// Retriever makes a retriever for langchaingo's chains of one of ours: what there is to
// read for a question, k pieces (5 if it is 0), and after it what was derived.
func Retriever(r graphrag.Retriever, k int) schema.Retriever {
	return retriever{r, cmp.Or(k, 5)}
}

type retriever struct {
	r graphrag.Retriever
	k int
}

// GetRelevantDocuments implements schema.Retriever.
func (r retriever) GetRelevantDocuments(ctx context.Context, query string) ([]schema.Document, error) {
	q := graphrag.Question{Text: query, K: r.k}
	found, err := r.r.Retrieve(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("langchain: retrieve: %w", err)
	}
	var docs []schema.Document
	for _, h := range found.Read(q) {
		docs = append(docs, schema.Document{
			PageContent: h.Chunk.Text, Score: float32(h.Score),
			Metadata: map[string]any{MetaID: h.Chunk.ID, MetaDoc: h.Chunk.Doc, MetaTitle: h.Chunk.Title, "start": h.Chunk.Start, "end": h.Chunk.End},
		})
	}
	for _, d := range found.Derived {
		docs = append(docs, schema.Document{PageContent: d.Text, Metadata: map[string]any{"derived": true}})
	}
	return docs, nil
}

// Dense makes a retriever of any vector store of langchaingo. Chunks have the ID, the
// document and the title that the metadata say under the keys of this package; without
// an ID, one made of the text. The options go with every search.
func Dense(v vectorstores.VectorStore, o ...vectorstores.Option) graphrag.Retriever {
	return dense{v, o}
}

type dense struct {
	v vectorstores.VectorStore
	o []vectorstores.Option
}

// Retrieve implements graphrag.Retriever.
func (d dense) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	docs, err := d.v.SimilaritySearch(ctx, q.Text, q.Want(), d.o...)
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("langchain: similarity search: %w", err)
	}
	if err := ctx.Err(); err != nil { // some stores return what they have
		return graphrag.Found{}, err
	}
	found := graphrag.Nothing()
	seen := make(map[string]bool)
	for _, doc := range docs {
		c := graphrag.Chunk{ID: said(doc, MetaID), Doc: said(doc, MetaDoc), Title: said(doc, MetaTitle), Text: doc.PageContent, End: len(doc.PageContent)}
		if c.ID == "" {
			c.ID = idOf(doc)
		}
		c.Doc = cmp.Or(c.Doc, c.ID)
		if !seen[c.ID] && len(found.Ranked) < q.Want() {
			seen[c.ID] = true
			found.Ranked = append(found.Ranked, graphrag.Hit{Chunk: c, Score: float64(doc.Score), Source: "dense"})
		}
	}
	return found, nil
}

func said(doc schema.Document, key string) string {
	s, _ := doc.Metadata[key].(string)
	return s
}

// idOf is an ID made of where a text is from and the text.
func idOf(doc schema.Document) string {
	h := sha256.Sum256([]byte(said(doc, MetaDoc) + "\x00" + doc.PageContent))
	return hex.EncodeToString(h[:16])
}

// Vectors makes a vector store for langchaingo of a table of one of our stores, whose
// schema has vectors of the embedder's length. Metadata that the schema declares as
// fields can be filtered by: WithFilters takes a store.Filter, or a map of fields to
// values that all have to be met. What was added is found when AddDocuments has
// returned. Name spaces are collections here: WithNameSpace is refused.
func Vectors(g store.Generation, table string, s store.TableSchema, e llm.Embedder) (vectorstores.VectorStore, error) {
	t, err := g.Table(table)
	if err != nil {
		return nil, fmt.Errorf("langchain: %w", err)
	}
	if s.Dim == 0 {
		return nil, fmt.Errorf("langchain: table %q: %w: it has no vectors: set Dim in its schema", table, store.ErrInvalid)
	}
	return &vectors{g: g, t: t, schema: s, e: e}, nil
}

type vectors struct {
	g      store.Generation
	t      store.Table
	schema store.TableSchema
	e      llm.Embedder
}

func (v *vectors) options(all []vectorstores.Option) (vectorstores.Options, error) {
	o := vectorstores.Options{Embedder: v.e}
	for _, set := range all {
		set(&o)
	}
	if o.NameSpace != "" {
		return o, fmt.Errorf("langchain: name space %q: %w: make a collection of that name", o.NameSpace, store.ErrInvalid)
	}
	return o, nil
}

// AddDocuments implements vectorstores.VectorStore. A document with the ID of one that is
// there takes its place.
func (v *vectors) AddDocuments(ctx context.Context, docs []schema.Document, options ...vectorstores.Option) ([]string, error) {
	o, err := v.options(options)
	if err != nil {
		return nil, err
	}
	var ids, texts []string
	var kept []schema.Document
	for _, d := range docs {
		if o.Deduplicater == nil || !o.Deduplicater(ctx, d) {
			kept, texts = append(kept, d), append(texts, d.PageContent)
		}
	}
	rows, err := o.Embedder.EmbedDocuments(ctx, texts)
	if err == nil && len(rows) != len(texts) {
		err = fmt.Errorf("%d vectors for %d texts", len(rows), len(texts))
	}
	if err != nil {
		return nil, fmt.Errorf("langchain: add documents: embed: %w", err)
	}
	records := make([]store.Record, len(kept))
	for i, d := range kept {
		if records[i], err = v.record(d, rows[i]); err != nil {
			return nil, fmt.Errorf("langchain: add documents: document %d: %w", i, err)
		}
		ids = append(ids, records[i].ID)
	}
	if err := v.t.Put(ctx, records...); err != nil {
		return nil, fmt.Errorf("langchain: add documents: %w", err)
	}
	if err := v.g.Flush(ctx); err != nil {
		return nil, fmt.Errorf("langchain: add documents: %w", err)
	}
	return ids, nil
}

func (v *vectors) record(d schema.Document, row []float32) (store.Record, error) {
	r := store.Record{ID: said(d, MetaID), Scope: said(d, MetaDoc), Title: said(d, MetaTitle), Text: d.PageContent, Vector: row, Fields: store.Fields{}}
	if r.ID == "" {
		r.ID = idOf(d)
	}
	for name, kind := range v.schema.Fields {
		switch x := d.Metadata[name].(type) {
		case string, float64, int:
			r.Fields[name] = x
		case nil:
		default:
			return r, fmt.Errorf("%w: field %q is a %T, want a %s", store.ErrInvalid, name, x, kind)
		}
	}
	var err error
	if len(d.Metadata) > 0 {
		r.Data, err = json.Marshal(d.Metadata)
	}
	return r, err
}

// SimilaritySearch implements vectorstores.VectorStore. Scores are similarities: a
// threshold is of them.
func (v *vectors) SimilaritySearch(ctx context.Context, query string, n int, options ...vectorstores.Option) ([]schema.Document, error) {
	o, err := v.options(options)
	if err != nil {
		return nil, err
	}
	where, err := filterOf(o.Filters)
	if err != nil {
		return nil, err
	}
	row, err := o.Embedder.EmbedQuery(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("langchain: similarity search: embed: %w", err)
	}
	hits, err := v.t.SearchVectors(ctx, store.VectorQuery{Vector: row, K: n, Where: where})
	if err != nil {
		return nil, fmt.Errorf("langchain: similarity search: %w", err)
	}
	scores := make(map[string]float32)
	var ids []string
	for _, h := range hits[0] {
		if o.ScoreThreshold == 0 || h.Score >= float64(o.ScoreThreshold) {
			ids, scores[h.ID] = append(ids, h.ID), float32(h.Score)
		}
	}
	records, err := v.t.Get(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("langchain: similarity search: %w", err)
	}
	docs := make([]schema.Document, len(records))
	for i, r := range records {
		docs[i] = schema.Document{PageContent: r.Text, Score: scores[r.ID], Metadata: map[string]any{}}
		if len(r.Data) > 0 {
			if err := json.Unmarshal(r.Data, &docs[i].Metadata); err != nil {
				return nil, fmt.Errorf("langchain: record %q: its data are no metadata: %w", r.ID, err)
			}
		}
		docs[i].Metadata[MetaID] = r.ID
	}
	return docs, nil
}

func filterOf(v any) (store.Filter, error) {
	switch f := v.(type) {
	case nil:
		return store.Filter{}, nil
	case store.Filter:
		return f, nil
	case map[string]any:
		var all []store.Filter
		for name, value := range f {
			all = append(all, store.Equal(name, value))
		}
		return store.And(all...), nil
	}
	return store.Filter{}, fmt.Errorf("langchain: filters are a %T: %w: want a store.Filter or a map[string]any", v, store.ErrInvalid)
}
