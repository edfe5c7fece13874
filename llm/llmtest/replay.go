// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/usage"
)

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
	m llm.Model
	w *lineWriter
}

// NewRecorder records m on w. A reply that cannot be written is an error;
// calls that were cancelled are not recorded.
func NewRecorder(m llm.Model, w io.Writer) *Recorder { return &Recorder{m, &lineWriter{w: w}} }

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
		scrubbed.Text, scrubbed.Reasoning = scrub(reply.Text, nil), scrub(reply.Reasoning, nil)
		line.Reply = &scrubbed
	case ctx.Err() != nil:
		return reply, err
	default:
		line.Error = &modelError{Kind: llm.ErrTransient, Text: scrub(err.Error(), nil)}
		var e *llm.Error
		if errors.As(err, &e) {
			line.Error = &modelError{Kind: e.Kind, Status: e.Status, Billed: e.Billed, Usage: e.Usage, Text: line.Error.Text}
		}
	}
	if lost := r.w.write(line); lost != nil {
		return llm.Reply{}, errors.Join(err, lost)
	}
	return reply, err
}

// requestText is what requests are told apart by on a cassette.
func requestText(req llm.Request) (string, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return "", &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: err}
	}
	return scrub(string(b), nil), nil
}

// Replay is a model that answers from a cassette. A request that is not on it
// is an error that names the request and satisfies errors.Is(err,
// [ErrNotRecorded]).
type Replay struct {
	name string
	t    *tape[modelLine]
}

// NewReplay reads the cassette of a [Recorder].
func NewReplay(r io.Reader) (*Replay, error) {
	p := &Replay{}
	var err error
	p.t, err = readTape(r, func(b []byte) (string, modelLine, error) {
		var l modelLine
		if err := json.Unmarshal(b, &l); err != nil {
			return "", l, err
		}
		switch {
		case l.Model == "" || (l.Reply == nil) == (l.Error == nil):
			return "", l, errors.New("want a model, a request, and a reply or an error")
		case p.name != "" && p.name != l.Model:
			return "", l, fmt.Errorf("two models on one cassette: %q and %q", p.name, l.Model)
		}
		p.name = l.Model
		return string(l.Request), l, nil
	})
	if err != nil {
		return nil, err
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
	l, err := p.t.play(request)
	if err != nil {
		return llm.Reply{}, err
	}
	if e := l.Error; e != nil {
		return llm.Reply{}, &llm.Error{Kind: e.Kind, Status: e.Status, Billed: e.Billed, Usage: e.Usage, Err: errors.New(e.Text)}
	}
	usage.Record(ctx, l.Reply.Usage)
	return *l.Reply, nil
}
