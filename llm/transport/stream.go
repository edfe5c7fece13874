// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
)

// stream hands on a reply while it comes: OpenAI's server-sent events or Ollama's lines of
// JSON. It is written the body as it arrives.
type stream struct {
	piece func(text string) error
	most  int // bytes of a reply within its limit, 0 without one

	line  []byte // begun
	raw   strings.Builder
	shown string // what piece was told
	err   error  // of piece, or that the reply is too long
}

// begun reports whether the caller has seen a part of the reply, after which it must not
// come again from the beginning.
func (s *stream) begun() bool { return s != nil && (s.shown != "" || s.err != nil) }

// reset forgets an attempt of which the caller has seen nothing.
func (s *stream) reset() {
	if s != nil {
		s.line = nil
		s.raw.Reset()
	}
}

// Write implements [io.Writer].
func (s *stream) Write(p []byte) (int, error) {
	n := len(p)
	for s.err == nil {
		at := bytes.IndexByte(p, '\n')
		if at < 0 {
			s.line = append(s.line, p...)
			break
		}
		s.line = append(s.line, p[:at]...)
		if e, ok := eventOf(s.line); ok {
			s.err = s.add(e.text())
		}
		s.line, p = s.line[:0], p[at+1:]
	}
	return n, s.err
}

// add takes in a part of the reply. What may be reasoning is held back.
func (s *stream) add(part string) error {
	if part == "" {
		return nil
	}
	s.raw.WriteString(part)
	if s.most > 0 && s.raw.Len() > s.most {
		return &llm.Error{Kind: llm.ErrTruncated, Billed: llm.BilledYes, Err: fmt.Errorf("the reply goes on beyond its limit and was cut after %d bytes", s.raw.Len())}
	}
	raw := s.raw.String()
	if begin := strings.TrimSpace(raw); strings.HasPrefix(begin, "<") && len(begin) < len("<|channel|>analysis") {
		return nil
	}
	text, _, open := llm.SplitThinking(raw)
	if open {
		return nil
	}
	return s.show(text)
}

// show tells the caller what is new in a text.
func (s *stream) show(text string) error {
	more, ok := strings.CutPrefix(text, s.shown)
	if !ok || more == "" {
		return nil
	}
	s.shown = text
	return s.piece(more)
}

// event is a part of a reply, of either server.
type event struct {
	Error   json.RawMessage `json:"error"`
	Model   string          `json:"model"`
	Print   string          `json:"system_fingerprint"`
	Choices []struct {
		Delta  delta  `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`

	Message delta `json:"message"` // Ollama's
	Done    bool  `json:"done"`
}

type delta struct {
	Content   json.RawMessage `json:"content"`
	Refusal   string          `json:"refusal"`
	Reasoning string          `json:"reasoning"`
	Thought   string          `json:"reasoning_content"`
	Thinking  string          `json:"thinking"`
	Calls     []struct {
		Index    int `json:"index"`
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (e event) delta() delta {
	if len(e.Choices) > 0 {
		return e.Choices[0].Delta
	}
	return e.Message
}

func (e event) text() string { return contentText(e.delta().Content) }

// eventOf reads a line of a stream. Comments, names of events and [DONE] are none.
func eventOf(line []byte) (e event, ok bool) {
	line = bytes.TrimSpace(line)
	if data, is := bytes.CutPrefix(line, []byte("data:")); is {
		line = bytes.TrimSpace(data)
	}
	return e, len(line) > 0 && line[0] == '{' && json.Unmarshal(line, &e) == nil
}

// whole makes of a stream the body that the same reply would be in one piece. A body that came
// in one piece, and an error in the middle, stay as they are.
func (s *stream) whole(body []byte) ([]byte, error) {
	if json.Valid(body) {
		return body, nil
	}
	var text, thought, refusal, finish, arguments strings.Builder
	var model, print string
	usage := json.RawMessage("null")
	calls, events, ended := 0, 0, bytes.Contains(body, []byte("data: [DONE]"))
	for line := range bytes.Lines(body) {
		e, ok := eventOf(line)
		if !ok {
			continue
		}
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data:"))), nil
		}
		events++
		d := e.delta()
		text.WriteString(contentText(d.Content))
		thought.WriteString(d.Thought + d.Reasoning + d.Thinking)
		refusal.WriteString(d.Refusal)
		for _, c := range d.Calls {
			calls = max(calls, c.Index+1)
			arguments.WriteString(c.Function.Arguments)
		}
		if len(e.Choices) > 0 && e.Choices[0].Finish != "" {
			finish.Reset()
			finish.WriteString(e.Choices[0].Finish)
		}
		if len(e.Usage) > 0 && string(e.Usage) != "null" {
			usage = e.Usage
		}
		ended = ended || e.Done || finish.Len() > 0
		model, print = cmp.Or(e.Model, model), cmp.Or(e.Print, print)
		if e.Done { // Ollama's last line has the figures
			return withMessage(line, text.String(), thought.String())
		}
	}
	switch {
	case events == 0:
		return body, nil // it is judged as it is
	case !ended:
		return nil, &llm.Error{Kind: llm.ErrTransient, Billed: llm.BilledUnknown, Err: errors.New("the reply ends without its last piece")}
	}
	message := map[string]any{"content": text.String(), "reasoning_content": thought.String(), "refusal": refusal.String()}
	if calls == 1 {
		message["tool_calls"] = []any{map[string]any{"function": map[string]any{"arguments": arguments.String()}}}
	}
	return json.Marshal(map[string]any{
		"model": model, "system_fingerprint": print, "usage": usage,
		"choices": []any{map[string]any{"finish_reason": finish.String(), "message": message}},
	})
}

// withMessage is Ollama's last line with all of the message.
func withMessage(line []byte, text, thinking string) ([]byte, error) {
	var all map[string]any
	if err := json.Unmarshal(line, &all); err != nil {
		return nil, err
	}
	all["message"] = map[string]any{"content": text, "thinking": thinking}
	return json.Marshal(all)
}
