// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm/usage"
)

// RetrieveThenRead is the frame of flat retrieval: cut the documents, build a
// retriever over the chunks, read the K best for each question.
type RetrieveThenRead struct {
	frame    Frame
	retrieve graphrag.Retriever
}

// Frame is what a [RetrieveThenRead] is made of; Embedded alone may be nil.
type Frame struct {
	Name   string
	Cut    Cut
	Reader reader.Reader
	// Build makes the retriever.
	Build func(ctx context.Context, chunks []graphrag.Chunk) (graphrag.Retriever, error)
	// Embedded counts the tokens that a paid embedder gets for a chunk or a
	// question. They are counted here, and not where they are paid, so that
	// the account is the same when vectors come from a cache.
	Embedded func(text string) int
}

var _ graphrag.System = (*RetrieveThenRead)(nil)

// NewRetrieveThenRead checks a frame and returns its system.
func NewRetrieveThenRead(f Frame) (*RetrieveThenRead, error) {
	if f.Reader == nil {
		return nil, fmt.Errorf("%s: the kit has no reader", f.Name)
	}
	if _, err := f.Cut.Chunker(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return &RetrieveThenRead{frame: f}, nil
}

// Name is the name of the frame.
func (s *RetrieveThenRead) Name() string { return s.frame.Name }

// embedded is the usage of embedding some texts.
func (f Frame) embedded(texts ...string) graphrag.Usage {
	var u graphrag.Usage
	if f.Embedded != nil {
		u.Estimated = true
		for _, t := range texts {
			u.EmbeddedTokens += f.Embedded(t)
		}
	}
	return u
}

// Index cuts the documents and builds the retriever.
func (s *RetrieveThenRead) Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	ctx = usage.WithStage(ctx, "index")
	var stats graphrag.IndexStats
	chunker, err := s.frame.Cut.Chunker()
	if err != nil {
		return stats, err
	}
	chunks, err := chunker.All(ctx, counted(docs, &stats.Documents))
	if err != nil {
		return stats, err
	}
	stats.Chunks = len(chunks)
	for _, c := range chunks {
		stats.Usage = stats.Usage.Add(s.frame.embedded(embed.TitledText(c)))
	}
	s.retrieve, err = s.frame.Build(ctx, chunks)
	return stats, err
}

// counted passes documents on and counts them.
func counted(docs iter.Seq2[graphrag.Document, error], n *int) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for d, err := range docs {
			if err == nil {
				*n++
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// Answer ranks the chunks for the question and reads the first K.
func (s *RetrieveThenRead) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	if s.retrieve == nil {
		return graphrag.Answer{}, errors.New(s.frame.Name + ": asked before Index")
	}
	ranked, err := s.retrieve.Retrieve(usage.WithStage(ctx, "retrieve"), q.Text, max(q.K, q.Depth))
	if err != nil {
		return graphrag.Answer{}, err
	}
	a, err := s.frame.Reader.Read(ctx, q, ranked[:min(max(q.K, 0), len(ranked))], nil)
	if err != nil {
		return graphrag.Answer{}, err
	}
	a.Ranked = found(ranked)
	a.Usage = a.Usage.Add(s.frame.embedded(q.Text))
	return a, nil
}

// found tells a search that came to nothing from no search.
func found(hits []graphrag.Hit) []graphrag.Hit {
	if hits == nil {
		return []graphrag.Hit{}
	}
	return hits
}

// Close releases the index.
func (s *RetrieveThenRead) Close() error {
	s.retrieve = nil
	return nil
}
