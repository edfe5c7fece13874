// SPDX-License-Identifier: Apache-2.0

package zeroshot

import (
	"context"
	"errors"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// Name of the system in reports.
const Name = "zeroshot"

// New returns the system. It needs a kit that answers by a model: without one there
// is nobody to ask.
func New(k kit.Kit) (*kit.System, error) {
	if k.AnswerModel == nil {
		return nil, errors.New("zeroshot: the kit answers without a model (AnswerModel): take kit.ByModel")
	}
	return kit.New(kit.Frame{
		Name: Name, Kit: k, Blind: true,
		Build: func(context.Context, *kit.Corpus) (graphrag.Retriever, error) {
			return graphrag.RetrieverFunc(func(ctx context.Context, _ graphrag.Question) (graphrag.Found, error) {
				return graphrag.Found{}, ctx.Err()
			}), nil
		},
	})
}
