// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
)

// reading is the way to read of the kit. Without a model the triples are those that
// the graph of the corpus has of the passages (GeAR's NaiveGE), or, with a graph from
// elsewhere, what the rules extract from them.
func (s *searcher) reading(k kit.Kit) (read, error) {
	if k.AnswerModel != nil {
		return s.readByModel(k.AnswerModel), nil
	}
	if s.o.Graph == nil {
		return s.known, nil
	}
	x, err := k.Triples()
	return s.extracted(x.Extractor), err
}

// known are the triples that the graph of the corpus has of passages.
func (s *searcher) known(ctx context.Context, _ string, passages []int32) ([]proximal, error) {
	var out []proximal
	at := make(map[int32]int)
	for _, p := range passages {
		for _, r := range s.corpus.Graph.PassageRelations(p) {
			if i, ok := at[r.ID]; ok {
				out[i].passages = append(out[i].passages, p)
				continue
			}
			at[r.ID] = len(out)
			out = append(out, proximal{s.corpus.Graph.Triple(r.ID), r.ID, []int32{p}})
		}
	}
	return out, ctx.Err()
}

// extracted extracts from the passages when the question is asked.
func (s *searcher) extracted(x extract.Extractor) read {
	return func(ctx context.Context, _ string, passages []int32) ([]proximal, error) {
		chunks := make([]graphrag.Chunk, len(passages))
		for i, p := range passages {
			chunks[i] = s.corpus.Chunks[p]
		}
		found, err := x.Extract(ctx, chunks)
		if err != nil {
			return nil, err
		}
		var out []proximal
		for i := range found {
			for _, f := range found[i].Facts {
				out = append(out, proximal{f.Triple, -1, passages[i : i+1]})
			}
		}
		return out, nil
	}
}

// The most triples that a model is asked for, and the most words of a part of one.
const (
	mostTriples = 10
	mostWords   = 12
)

// readByModel asks a model. A reply that cannot be used holds no triples.
func (s *searcher) readByModel(m llm.Model) read {
	return func(ctx context.Context, question string, passages []int32) ([]proximal, error) {
		if len(passages) == 0 {
			return nil, ctx.Err()
		}
		data := []llm.Data{{Label: "question", Text: question}}
		for _, p := range passages {
			c := s.corpus.Chunks[p]
			data = append(data, llm.Data{Label: "passage", Text: strings.TrimSpace(c.Title + "\n" + c.Text)})
		}
		req, err := prompts.Request(StageRead, "read", map[string]any{"Most": mostTriples, "Words": mostWords}, data...)
		if err != nil {
			return nil, err
		}
		req.JSON = true
		reply, _, err := llm.Decode[readReply](ctx, m, req)
		if llm.OfOneReply(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var out []proximal
		for _, t := range reply.usable() {
			out = append(out, proximal{t, -1, passages})
		}
		return out, nil
	}
}

type readReply struct {
	Triples *[]json.RawMessage `json:"triples"`
}

// Check implements what llm.Decode asks of replies.
func (r readReply) Check() error {
	if r.Triples == nil {
		return errors.New(`the key "triples" is missing`)
	}
	return nil
}

// usable are the triples of three parts that say something.
func (r readReply) usable() (out []graphrag.Triple) {
	if r.Triples == nil {
		return nil
	}
	for _, raw := range *r.Triples {
		var parts []string
		if len(out) == mostTriples || json.Unmarshal(raw, &parts) != nil || len(parts) != 3 {
			continue
		}
		whole := true
		for i, p := range parts {
			words := strings.Fields(llm.Printable(p))
			whole = whole && len(words) > 0 && len(words) <= mostWords
			parts[i] = strings.Join(words, " ")
		}
		if whole {
			out = append(out, graphrag.Triple{Head: parts[0], Relation: parts[1], Tail: parts[2]})
		}
	}
	return out
}
