// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// stream passes on a reply as it arrives, as OpenAI's server-sent events or Ollama's lines of JSON. The body
// is written to it, and it collects the reply.
type stream struct {
	piece func(text string) error
	most  int // bytes of a reply within its limit, 0 without one
	req   llm.Request
	waits bool // until reasoning has ended: the text may be some

	err error // of piece, or that the reply is too long
	streamState
}

// streamState is the state of one attempt.
type streamState struct {
	line []byte // begun
	data []byte // of an event whose JSON has several lines

	raw, thought, refusal, arguments strings.Builder
	thinking                         bool
	shownFrom, shown                 int // bytes of raw passed to piece: their offset and number
	model, print, finish             string
	usage                            json.RawMessage
	calls, events                    int
	ended, failed                    bool            // failed: the next event is an error
	last                             json.RawMessage // Ollama's last line, or an error of the server
}

// maxEvent limits an event, or a line of a stream, in bytes. Streams have a few words in each.
const maxEvent = 4 << 20

// begun reports whether the caller has received a part of the reply, which must not be repeated.
func (s *stream) begun() bool { return s != nil && (s.shown > 0 || s.err != nil) }

// reset discards an attempt of which the caller has received nothing.
func (s *stream) reset() {
	if s != nil {
		s.streamState = streamState{}
	}
}

// Write implements [io.Writer].
func (s *stream) Write(p []byte) (int, error) {
	n := len(p)
	for s.err == nil {
		part, rest, whole := bytes.Cut(p, []byte{'\n'})
		if s.line = append(s.line, part...); len(s.line)+len(s.data) > maxEvent {
			s.err = &llm.Error{Kind: llm.ErrInvalidOutput, Billed: llm.BilledYes, Err: fmt.Errorf("an event of the stream has more than %d bytes", maxEvent)}
		}
		if !whole || s.err != nil {
			break
		}
		s.err = s.take(bytes.TrimSpace(s.line))
		s.line, p = s.line[:0], rest
	}
	return n, s.err
}

// take reads a line. The data of an event may span several lines up to a blank one; complete JSON in one line
// does not wait for it, since some servers omit blank lines. Comments and other fields are skipped.
func (s *stream) take(line []byte) error {
	data, ofEvent := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimSpace(data)
	switch {
	case len(line) == 0:
		data, s.data = s.data, nil
		return s.event(data)
	case string(line) == "event: error":
		s.failed = true
		return nil
	case !ofEvent && line[0] != '{': // Ollama's lines are objects
		return nil
	case len(s.data) == 0 && (!ofEvent || string(data) == "[DONE]" || json.Valid(data)):
		return s.event(data)
	}
	if len(s.data) > 0 {
		s.data = append(s.data, '\n')
	}
	s.data = append(s.data, data...)
	return nil
}

// event reads an event. Events after an error of the server, or after Ollama's last one, are ignored.
func (s *stream) event(data []byte) error {
	if string(data) == "[DONE]" && s.last == nil {
		s.ended = true
	}
	var e streamEvent
	if s.last != nil || len(data) == 0 || data[0] != '{' || lenient(data, &e) != nil {
		return nil
	}
	if e.Done = e.Done && len(e.Choices) == 0; e.Done || isError(e.Error) {
		s.last = bytes.Clone(data)
	} else if s.failed {
		s.last = fmt.Appendf(nil, `{"error":%s}`, data)
	}
	s.events++
	e.Choices = slices.DeleteFunc(e.Choices, func(c choice) bool { return c.Index > 0 }) // other replies to the request
	d := e.Message
	if len(e.Choices) > 0 {
		d = e.Choices[0].Delta
	}
	s.thought.WriteString(string(d.Thought + d.Reasoning + d.Thinking))
	s.refusal.WriteString(string(d.Refusal))
	for _, c := range d.Calls {
		s.calls = max(s.calls, int(c.Index)+1)
		s.arguments.WriteString(string(c.Function.Arguments))
	}
	if len(e.Choices) > 0 && e.Choices[0].Finish != "null" { // as DashScope writes none
		s.finish = cmp.Or(e.Choices[0].finish(), s.finish)
	}
	if len(e.Usage) > 0 && string(e.Usage) != "null" {
		s.usage = e.Usage
	}
	s.ended = s.ended || e.Done || s.finish != ""
	s.model, s.print = cmp.Or(string(e.Model), s.model), cmp.Or(string(e.Print), s.print)
	return s.add(string(d.Content))
}

// ending matches the marks that may end reasoning, or a reply.
var ending = regexp.MustCompile(`</(?:seed:)?(?:think|THINK|thinking|reasoning|thought|analysis|reflection|scratchpad)>|\[/THINK\]|◁/think▷|<channel\|>|<\|\w+\|>|assistantfinal|</s>|<eos>`)

// longMark is longer than any such mark.
const longMark = 32

// add adds a part of the reply. Possible reasoning is held back: from an opening mark to the closing one, and
// in a reply that waits up to a closing mark, since the opening one may be in the prompt.
func (s *stream) add(part string) error {
	if part == "" {
		return nil
	}
	s.raw.WriteString(part)
	raw := s.raw.String()
	if s.most > 0 && len(raw) > s.most {
		text, _, _ := llm.SplitThinking(raw)
		return &llm.Error{Kind: llm.ErrTruncated, Billed: llm.BilledYes, Partial: text, Err: fmt.Errorf("the reply goes on beyond its limit and was cut after %d bytes", len(raw))}
	}
	before := len(raw) - len(part)
	if before > longMark && !ending.MatchString(raw[max(0, before-longMark):]) {
		if s.thinking || s.waits && s.thought.Len() == 0 {
			return nil
		}
		if s.shown > 0 && s.shownFrom+s.shown == before {
			s.shown += len(part)
			return s.piece(part)
		}
	}
	if begin := strings.TrimSpace(raw); strings.IndexAny(begin, "<[◁") == 0 && len(begin) < longMark && !strings.ContainsAny(begin, ">]▷") {
		return nil
	}
	text, thinking, open := llm.SplitThinking(raw)
	if s.thinking = open; open || s.waits && thinking == "" && s.thought.Len() == 0 {
		return nil
	}
	return s.show(text)
}

// show passes on the new part of a text. If the text shown so far turns out to be reasoning, of which only
// the end is marked, the whole answer follows after a blank line.
func (s *stream) show(text string) error {
	shown := s.raw.String()[s.shownFrom : s.shownFrom+s.shown]
	more, ok := strings.CutPrefix(text, shown)
	if ok && more == "" || strings.HasPrefix(shown, text) {
		return nil
	}
	if !ok {
		more = "\n\n" + text
	}
	s.shownFrom, s.shown = max(0, strings.LastIndex(s.raw.String(), text)), len(text)
	return s.piece(more)
}

// streamEvent is a part of a reply, or a whole one, of either server.
type streamEvent struct {
	Error   json.RawMessage `json:"error"`
	Model   looseText       `json:"model"`
	Print   looseText       `json:"system_fingerprint"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`

	Message delta `json:"message"` // Ollama's
	Done    bool  `json:"done"`
}

type choice struct {
	Index   metering.Count `json:"index"`
	Delta   delta          `json:"delta"`   // of a stream
	Message delta          `json:"message"` // of a reply in one piece
	Finish  looseText      `json:"finish_reason"`

	Error json.RawMessage `json:"error"` // of the server behind a gateway
}

// finish is the reason why a reply ended.
func (c choice) finish() string {
	if isError(c.Error) {
		return "error"
	}
	return string(c.Finish)
}

type delta struct {
	Content   replies.Content `json:"content"`
	Refusal   looseText       `json:"refusal"`
	Reasoning looseText       `json:"reasoning"`
	Thought   looseText       `json:"reasoning_content"`
	Thinking  looseText       `json:"thinking"`
	Calls     []struct {
		Index    metering.Count `json:"index"`
		Function struct {
			Arguments looseText `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// looseText is a text, or the JSON of an object in its place.
type looseText string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *looseText) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil && b[0] == '{' {
		text = string(b)
	}
	*w = looseText(text)
	return nil
}

// whole returns the body that the same reply would have in one piece. A body in one piece, and an error in
// the middle of a stream, are returned unchanged.
func (s *stream) whole(body []byte) ([]byte, error) {
	if json.Valid(body) && (s.ended || s.raw.Len() == 0) {
		return body, nil
	}
	for range 2 { // the last line may lack its end, and the last event its blank line
		if err := s.take(bytes.TrimSpace(s.line)); err != nil {
			return nil, err
		}
		s.line = nil
	}
	switch {
	case s.events == 0:
		return body, nil
	case s.last != nil:
		var last map[string]any
		if err := json.Unmarshal(s.last, &last); err != nil || last["done"] != true {
			return s.last, err
		}
		last["message"] = map[string]any{"content": s.raw.String(), "thinking": s.thought.String()}
		return json.Marshal(last)
	case !s.ended:
		return nil, &llm.Error{Kind: llm.ErrTransient, Billed: llm.BilledUnknown, Err: errors.New("the reply ends without its last piece")}
	}
	message := map[string]any{"content": s.raw.String(), "reasoning_content": s.thought.String(), "refusal": s.refusal.String()}
	if s.calls == 1 {
		message["tool_calls"] = []any{map[string]any{"function": map[string]any{"arguments": s.arguments.String()}}}
	}
	return json.Marshal(map[string]any{
		"model": s.model, "system_fingerprint": s.print, "usage": s.usage,
		"choices": []any{map[string]any{"finish_reason": s.finish, "message": message}},
	})
}
