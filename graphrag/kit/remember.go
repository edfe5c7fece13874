// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/llm"
)

// remembering is a model that is metered and, while a system is built, asks only
// for replies that the system does not have.
type remembering struct{ llm.Model }

func (r remembering) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	kept := repliesOf(ctx)
	key, keyed := kept.key(r.Name(), req)
	if reply, ok := kept.reply(key); keyed && ok {
		reply.Usage = graphrag.Usage{CachedCalls: 1}
		return reply, nil
	}
	reply, err := r.Model.Generate(ctx, req)
	if err == nil && keyed {
		kept.keep(key, reply)
	}
	return reply, err
}

// metered counts what a model is asked under the meter of the context.
func metered(m llm.Model) llm.Model { return llm.Metered(remembering{m}) }

// rememberingEmbedder asks only for vectors that the system does not have: those
// of its texts while it is built, and for each question those of its queries.
type rememberingEmbedder struct{ embed.Embedder }

func (r rememberingEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	count(ctx, stepEmbed, graphrag.Stage{Asked: len(texts)})
	kept := repliesOf(ctx)
	out := make([][]float32, len(texts))
	var missing []string
	var at []int
	for i, t := range texts {
		if v, ok := kept.vector(t); ok {
			out[i] = v
			continue
		}
		missing, at = append(missing, t), append(at, i)
	}
	if len(missing) == 0 {
		return out, ctx.Err()
	}
	fresh, err := r.Embedder.EmbedDocuments(ctx, missing)
	if err != nil || len(fresh) != len(missing) {
		return fresh, err // the caller says what is wrong with the number
	}
	for i, v := range fresh {
		out[at[i]] = v
		if err := kept.keepVector(missing[i], v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r rememberingEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	kept := repliesOf(ctx)
	if v, ok := kept.vector(text); ok {
		return v, nil
	}
	v, err := r.Embedder.EmbedQuery(ctx, text)
	if err == nil {
		err = kept.keepVector(text, v)
	}
	return v, err
}
