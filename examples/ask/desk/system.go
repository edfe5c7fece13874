// SPDX-License-Identifier: Apache-2.0

package desk

import (
	"context"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// System returns the folder as a system for package serve. It refreshes the index before each question, and
// answers under the condition of the desk. Its documents are the files.
func (d *Desk) System() graphrag.System { return deskSystem{d.folder.System, d} }

// K returns the number of passages read for an answer.
func (d *Desk) K() int { return d.o.K }

// At returns the place of a citation in a form that terminals can open.
func (d *Desk) At(a graphrag.Answer, c graphrag.Citation) string {
	a.Citations = []graphrag.Citation{c}
	if sources := d.sources(a); len(sources) > 0 {
		return sources[0].At()
	}
	chunk, _ := a.Passage(c)
	return chunk.Doc
}

type deskSystem struct {
	*kit.System
	d *Desk
}

// Retrieve implements [graphrag.Retriever].
func (a deskSystem) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	a.d.Refresh(ctx)
	defer a.d.busy()()
	q.Where = a.d.where(q.Where)
	return a.System.Retrieve(ctx, q)
}

// Answer implements [graphrag.System].
func (a deskSystem) Answer(ctx context.Context, q graphrag.Question) (last graphrag.Answer, err error) {
	for last, err = range a.Stream(ctx, q) {
	}
	return last, err
}

// Stream implements [graphrag.Streamer].
func (a deskSystem) Stream(ctx context.Context, q graphrag.Question) iter.Seq2[graphrag.Answer, error] {
	return func(yield func(graphrag.Answer, error) bool) {
		a.d.Refresh(ctx)
		defer a.d.busy()()
		q.Where = a.d.where(q.Where)
		a.System.Stream(ctx, q)(yield)
	}
}

// List returns the files that meet the condition of the desk.
func (a deskSystem) List(context.Context) ([]string, error) { return a.d.list(a.d.o.Where), nil }
