// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// reading returns the function that reads triples from passages: by the model, or else from the triples of the
// passages in a sourced graph (GeAR's NaiveGE), or else by the kit's extraction.
func reading(k kit.Kit, reader llm.Model, sourced bool) (read, error) {
	if reader != nil {
		return readByModel(metering.Metered(reader)), nil
	}
	if k.AnswerModel != nil {
		return readByModel(k.AnswerModel), nil
	}
	if sourced {
		return stated, nil
	}
	if k.Triples == nil {
		return nil, errors.New("the kit has nothing to read triples with: no AnswerModel and no Triples")
	}
	x, err := k.Triples()
	return extracted(x.Extractor), err
}

// stated takes the triples of passages from the graph.
func stated(ctx context.Context, g Graph, _ string, passages []graphrag.Chunk) ([]proximal, error) {
	lists, err := g.(Sourced).Stated(ctx, passages)
	if err != nil {
		return nil, err
	}
	var out []proximal
	at := make(map[int32]int)
	for i, list := range lists {
		for _, n := range list {
			if first, ok := at[n]; ok {
				out[first].from = graphrag.Merged(out[first].from, graphrag.ProvenanceOf(passages[i]))
				continue
			}
			at[n] = len(out)
			t := g.Triple(n)
			out = append(out, proximal{graphrag.Triple{Head: t.Head.Label, Relation: t.Relation.Label, Tail: t.Tail.Label}, n, graphrag.ProvenanceOf(passages[i])})
		}
	}
	return out, nil
}

// extracted returns the function that extracts the triples from passages.
func extracted(x extract.Extractor) read {
	return func(ctx context.Context, _ Graph, _ string, passages []graphrag.Chunk) ([]proximal, error) {
		found, err := x.Extract(ctx, passages)
		if err != nil {
			return nil, err
		}
		var out []proximal
		for i := range found {
			for _, f := range found[i].Facts {
				out = append(out, proximal{f.Triple, -1, graphrag.ProvenanceOf(passages[i])})
			}
		}
		return out, nil
	}
}

// mostTriples is the largest number of triples of a reply, mostWords the largest number of words of each part.
const (
	mostTriples = 10
	mostWords   = 12
)

// readByModel asks a model for the triples. A reply that cannot be used has none.
func readByModel(m llm.Model) read {
	return func(ctx context.Context, _ Graph, question string, passages []graphrag.Chunk) ([]proximal, error) {
		if len(passages) == 0 {
			return nil, ctx.Err()
		}
		data := []prompts.Data{{Label: "question", Text: question}}
		for _, c := range passages {
			data = append(data, prompts.Data{Label: "passage", Text: strings.TrimSpace(c.Title + "\n" + c.Text)})
		}
		req, err := templates.Request(ctx, StageRead, "read", map[string]any{"Most": mostTriples, "Words": mostWords}, data...)
		if err != nil {
			return nil, err
		}
		reply, _, err := replies.Decode[struct{ Triples []replies.Triple }](ctx, m, req)
		if llm.OfOneReply(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var out []proximal
		triples, unread := usable(reply.Triples)
		metering.Unread(ctx, StageRead, unread)
		for _, t := range triples {
			out = append(out, proximal{t, -1, graphrag.ProvenanceOf(passages...)})
		}
		return out, nil
	}
}

// usable returns up to mostTriples triples of three short parts that are not empty; unread is the number
// of unusable ones.
func usable(written []replies.Triple) (out []graphrag.Triple, unread int) {
	for _, t := range written {
		whole := t.Fault == ""
		parts := []string{t.Head, t.Relation, t.Tail}
		for i, p := range parts {
			words := strings.Fields(prompts.Printable(p))
			whole = whole && len(words) > 0 && len(words) <= mostWords
			parts[i] = strings.Join(words, " ")
		}
		if whole {
			out = append(out, graphrag.Triple{Head: parts[0], Relation: parts[1], Tail: parts[2]})
		} else {
			unread++
		}
	}
	return out[:min(len(out), mostTriples)], unread
}

// simple is a function that reports whether a question needs no graph.
type simple func(ctx context.Context, question string) (bool, error)

// when returns a retriever that uses flat for simple questions, and whole for others.
func when(is simple, flat, whole graphrag.Retriever) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		skip, err := is(ctx, q.Text)
		if err != nil {
			return graphrag.Found{}, err
		}
		if skip {
			return flat.Retrieve(ctx, q)
		}
		return whole.Retrieve(ctx, q)
	})
}

// Words that begin English questions, words that join two facts, and words that add no fact before a
// copula: "Who is the mayor of Oslo?" needs one fact, "Where was the mayor of Oslo born?" two.
var (
	openers = strings.Fields("who whom whose what what's who's which when where how why is are was were did does do has have")
	joints  = strings.Fields("of that who whom whose which where than both same between")
	naming  = strings.Fields("who what which")
	copulas = strings.Fields("is was are were")
)

// simpleByForm reports whether a question needs only one fact, by its words. A question that does not begin
// like an English one is not simple.
func simpleByForm(_ context.Context, question string) (bool, error) {
	words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(question), "’", "'"), func(r rune) bool {
		return r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if len(words) < 2 || !slices.Contains(openers, words[0]) {
		return false, nil
	}
	n := 1
	if words[0] == "what's" || words[0] == "who's" || slices.Contains(naming, words[0]) && slices.Contains(copulas, words[1]) {
		n = 0
	}
	for _, w := range words[1:] {
		if slices.Contains(joints, w) || strings.HasSuffix(w, "'s") || strings.HasSuffix(w, "s'") {
			n++
		}
	}
	return n < 2, nil
}

// simpleByModel asks a model whether a question is simple. If the reply cannot be used, it is not.
func simpleByModel(m llm.Model) simple {
	return func(ctx context.Context, question string) (bool, error) {
		req, err := templates.Request(ctx, StageClassify, "classify", nil, prompts.Data{Label: "question", Text: question})
		if err != nil {
			return false, err
		}
		reply, _, err := replies.Decode[struct{ Simple bool }](ctx, m, req)
		if llm.OfOneReply(err) {
			return false, nil
		}
		return reply.Simple, err
	}
}
