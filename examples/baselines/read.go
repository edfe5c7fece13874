// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm"
)

// RetrieveThenRead is the frame of flat retrieval: cut the documents, build a
// retriever over the chunks, read the K best for each question.
type RetrieveThenRead struct {
	name     string
	cut      Cut
	build    func(ctx context.Context, chunks []graphrag.Chunk) (graphrag.Retriever, error)
	reader   reader.Reader
	retrieve graphrag.Retriever
}

var _ graphrag.System = (*RetrieveThenRead)(nil)

// NewRetrieveThenRead returns a system that builds its retriever with build.
func NewRetrieveThenRead(name string, cut Cut, r reader.Reader,
	build func(ctx context.Context, chunks []graphrag.Chunk) (graphrag.Retriever, error)) (*RetrieveThenRead, error) {
	if r == nil {
		return nil, fmt.Errorf("%s: the kit has no reader", name)
	}
	if _, err := cut.Chunker(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &RetrieveThenRead{name: name, cut: cut, reader: r, build: build}, nil
}

// Name is the name given to [NewRetrieveThenRead].
func (s *RetrieveThenRead) Name() string { return s.name }

// Index cuts the documents and builds the retriever.
func (s *RetrieveThenRead) Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	var meter llm.Meter
	ctx = llm.WithMeter(llm.WithStage(ctx, "index"), &meter)
	var stats graphrag.IndexStats
	chunker, err := s.cut.Chunker()
	if err != nil {
		return stats, err
	}
	chunks, err := chunker.All(ctx, counted(docs, &stats.Documents))
	if err != nil {
		return stats, err
	}
	stats.Chunks = len(chunks)
	s.retrieve, err = s.build(ctx, chunks)
	stats.Usage = meter.Total()
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
		return graphrag.Answer{}, errors.New(s.name + ": asked before Index")
	}
	var meter llm.Meter
	ranked, err := s.retrieve.Retrieve(llm.WithMeter(llm.WithStage(ctx, "retrieve"), &meter), q.Text, max(q.K, q.Depth))
	if err != nil {
		return graphrag.Answer{}, err
	}
	a, err := s.reader.Read(ctx, q, ranked[:min(max(q.K, 0), len(ranked))], nil)
	if err != nil {
		return graphrag.Answer{}, err
	}
	a.Ranked = ranked
	a.Usage = a.Usage.Add(meter.Total())
	return a, nil
}

// Close releases the index.
func (s *RetrieveThenRead) Close() error {
	s.retrieve = nil
	return nil
}
