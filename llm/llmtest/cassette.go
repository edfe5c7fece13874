// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// ErrNotRecorded says that a cassette holds no such request.
var ErrNotRecorded = errors.New("llmtest: this request is not on the cassette: record it again")

// maxLine limits a line of a cassette, in bytes.
const maxLine = 64 << 20

// keyShapes matches what keys, tokens and ids of accounts look like.
var keyShapes = regexp.MustCompile(`\b(?:sk|pk|gsk|hf|xai|org|proj|sess)[-_][A-Za-z0-9_\-]{12,}|\bAIza[A-Za-z0-9_\-]{20,}|(?i:\bbearer\s+[^\s"'\\,}]+)`)

// scrub removes what looks like a key.
func scrub(text string) string { return keyShapes.ReplaceAllString(text, "***") }

// recorded is a line of a cassette.
type recorded struct {
	Model   string          `json:"model"`
	Request json.RawMessage `json:"request"`
	Reply   llm.Reply       `json:"reply"`
}

// on is a request as it is identified on a cassette.
func on(req llm.Request) (json.RawMessage, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return nil, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: err}
	}
	return json.RawMessage(scrub(string(b))), nil
}

// Record is m with every reply written to a cassette: w gets a line of JSON for each
// request and its reply. Calls that fail are not recorded.
func Record(m llm.Model, w io.Writer) llm.Model { return &recorder{Model: m, w: w} }

type recorder struct {
	llm.Model
	mu sync.Mutex
	w  io.Writer
}

func (r *recorder) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	reply, err := r.Model.Generate(ctx, req)
	if err != nil {
		return reply, err
	}
	line := recorded{Model: r.Name(), Reply: reply}
	line.Reply.Text, line.Reply.Reasoning = scrub(reply.Text), scrub(reply.Reasoning)
	if line.Request, err = on(req); err != nil {
		return llm.Reply{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := json.NewEncoder(r.w).Encode(line); err != nil {
		return llm.Reply{}, fmt.Errorf("llmtest: record: %w", err)
	}
	return reply, nil
}

// Replay is a model that answers from a cassette: equal requests with their replies in
// turn, of which the last one repeats. A request that is not there is [ErrNotRecorded].
func Replay(r io.Reader) (llm.Model, error) {
	p := &replay{replies: map[string][]llm.Reply{}}
	for l, err := range jsonl.Read[recorded](r, jsonl.Options{Name: "llmtest: cassette", MaxLine: maxLine}) {
		if err != nil {
			return nil, err
		}
		if l.Value.Model == "" || p.name != "" && p.name != l.Value.Model {
			return nil, &jsonl.Error{File: "llmtest: cassette", Line: l.Number, Err: fmt.Errorf("the model is %q after %q: want one of them", l.Value.Model, p.name)}
		}
		p.name = l.Value.Model
		p.replies[string(l.Value.Request)] = append(p.replies[string(l.Value.Request)], l.Value.Reply)
	}
	return p, nil
}

type replay struct {
	name    string
	mu      sync.Mutex
	replies map[string][]llm.Reply // by request
}

func (p *replay) Name() string { return p.name }

func (p *replay) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if ctx.Err() != nil {
		return llm.Reply{}, llm.Canceled(ctx, llm.BilledNo)
	}
	request, err := on(req)
	if err != nil {
		return llm.Reply{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.replies[string(request)]
	if len(all) == 0 {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("%w: %.400s", ErrNotRecorded, request)}
	}
	if len(all) > 1 {
		p.replies[string(request)] = all[1:]
	}
	llm.RecordUsage(ctx, all[0].Usage)
	return all[0], nil
}
