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

// scrub blots out what looks like a key.
func scrub(text string) string { return keyShapes.ReplaceAllString(text, "***") }

// modelLine is a line of a model's cassette.
type modelLine struct {
	Model   string          `json:"model"`
	Request json.RawMessage `json:"request"`
	Reply   *llm.Reply      `json:"reply,omitempty"`
	Error   *modelError     `json:"error,omitempty"`
}

type modelError struct {
	Kind   llm.Kind   `json:"kind"`
	Status int        `json:"status,omitempty"`
	Billed llm.Billed `json:"billed,omitempty"`
	Usage  llm.Usage  `json:"usage"`
	Text   string     `json:"text,omitempty"`
}

// Recorder is a model that writes down what another one answers.
type Recorder struct {
	m  llm.Model
	mu sync.Mutex
	w  io.Writer
}

// NewRecorder records m on w. A reply that cannot be written is an error;
// calls that were cancelled are not recorded.
func NewRecorder(m llm.Model, w io.Writer) *Recorder { return &Recorder{m: m, w: w} }

// Name is the name of the recorded model.
func (r *Recorder) Name() string { return r.m.Name() }

// Generate asks the recorded model.
func (r *Recorder) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	request, err := requestText(req)
	if err != nil {
		return llm.Reply{}, err
	}
	reply, err := r.m.Generate(ctx, req)
	line := modelLine{Model: r.m.Name(), Request: json.RawMessage(request)}
	switch {
	case err == nil:
		scrubbed := reply
		scrubbed.Text, scrubbed.Reasoning = scrub(reply.Text), scrub(reply.Reasoning)
		line.Reply = &scrubbed
	case ctx.Err() != nil:
		return reply, err
	default:
		line.Error = &modelError{Kind: llm.ErrTransient, Text: scrub(err.Error())}
		var e *llm.Error
		if errors.As(err, &e) {
			line.Error = &modelError{Kind: e.Kind, Status: e.Status, Billed: e.Billed, Usage: e.Usage, Text: line.Error.Text}
		}
	}
	if lost := r.write(line); lost != nil {
		return llm.Reply{}, errors.Join(err, lost)
	}
	return reply, err
}

// write writes a line, one at a time.
func (r *Recorder) write(line modelLine) error {
	b, err := json.Marshal(line)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		_, err = r.w.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("llmtest: record: %w", err)
	}
	return nil
}

// requestText is what requests are told apart by on a cassette.
func requestText(req llm.Request) (string, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return "", &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: err}
	}
	return scrub(string(b)), nil
}

// Replay is a model that answers from a cassette. A request that is not on it
// is an error that names the request and satisfies errors.Is(err,
// [ErrNotRecorded]).
type Replay struct {
	name string

	mu    sync.Mutex
	lines map[string][]modelLine // by request
}

// NewReplay reads the cassette of a [Recorder].
func NewReplay(r io.Reader) (*Replay, error) {
	p := &Replay{lines: map[string][]modelLine{}}
	for l, err := range jsonl.Read[modelLine](r, jsonl.Options{Name: "llmtest: cassette", MaxLine: maxLine}) {
		v := l.Value
		switch {
		case err != nil:
			return nil, err
		case v.Model == "" || (v.Reply == nil) == (v.Error == nil):
			err = errors.New("want a model, a request, and a reply or an error")
		case p.name != "" && p.name != v.Model:
			err = fmt.Errorf("two models on one cassette: %q and %q", p.name, v.Model)
		}
		if err != nil {
			return nil, &jsonl.Error{File: "llmtest: cassette", Line: l.Number, Err: err}
		}
		p.name = v.Model
		p.lines[string(v.Request)] = append(p.lines[string(v.Request)], v)
	}
	return p, nil
}

// Name is the name of the recorded model.
func (p *Replay) Name() string { return p.name }

// Generate answers from the cassette, with the usage recorded.
func (p *Replay) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if ctx.Err() != nil {
		return llm.Reply{}, llm.Canceled(ctx, llm.BilledNo)
	}
	request, err := requestText(req)
	if err != nil {
		return llm.Reply{}, err
	}
	l, err := p.play(request)
	if err != nil {
		return llm.Reply{}, err
	}
	if e := l.Error; e != nil {
		return llm.Reply{}, &llm.Error{Kind: e.Kind, Status: e.Status, Billed: e.Billed, Usage: e.Usage, Err: errors.New(e.Text)}
	}
	llm.RecordUsage(ctx, l.Reply.Usage)
	return *l.Reply, nil
}

// play takes the next outcome of a request.
func (p *Replay) play(request string) (modelLine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.lines[request]
	if len(all) == 0 {
		return modelLine{}, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo,
			Err: fmt.Errorf("%w (%d others are): %.400s", ErrNotRecorded, len(p.lines), request)}
	}
	if len(all) > 1 {
		p.lines[request] = all[1:]
	}
	return all[0], nil
}
