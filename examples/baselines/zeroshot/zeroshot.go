// SPDX-License-Identifier: Apache-2.0

package zeroshot

import (
	"context"
	"errors"
	"iter"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag"
)

// Name of the system in reports.
const Name = "zeroshot"

// New returns the system. It needs the model kit: without a model there is
// nobody to ask.
func New(kit baselines.Kit) (graphrag.System, error) {
	if kit.Name != baselines.Model || kit.Reader == nil {
		return nil, errors.New("zeroshot: needs the model kit")
	}
	return &system{kit}, nil
}

type system struct{ kit baselines.Kit }

func (s *system) Name() string { return Name }

// Index reads nothing and builds nothing.
func (s *system) Index(ctx context.Context, _ iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	return graphrag.IndexStats{}, ctx.Err()
}

// Answer asks without evidence.
func (s *system) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	return s.kit.Reader.Read(ctx, q, nil, nil)
}

func (s *system) Close() error { return nil }
