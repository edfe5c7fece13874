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

// stream passes on a reply as it arrives, as OpenAI's server-sent events or Ollama's lines of JSON. The
// transport writes the body to the stream, which collects the reply.
type stream struct {
	piece func(text string) error
	most  int // the largest reply in bytes, 0 for no limit
	req   llm.Request
	waits bool // text is held back until reasoning has ended, since it may be reasoning

	err error // error of piece or of an unusable stream
	streamState
}

// streamState is the state of one attempt.
type streamState struct {
	line []byte // part of a line whose end has not arrived
	data []byte // data so far of an event that spans several lines

	raw, thought, refusal, arguments strings.Builder
	thinking                         bool
	shownFrom, shown                 int // bytes of raw passed to piece: their offset and number
	model, print, finish             string
	usage                            json.RawMessage
	calls, events                    int
	ended, failed                    bool            // the last event has arrived; the next one is an error
	last                             json.RawMessage // the last line of Ollama's stream, or an error of the server
}

// maxEvent limits an event or a line of a stream, in bytes. Usually each has a few words.
const maxEvent = 4 << 20

// begun reports whether the caller has received a part of the reply. Then the request must not be repeated.
func (s *stream) begun() bool { return s != nil && (s.shown > 0 || s.err != nil) }

// reset discards the state of a failed attempt, of which the caller has received nothing.
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

// take reads a line. The data of an event may span several lines up to a blank line; complete JSON in one line
// is an event by itself, since some servers omit blank lines. Comments and other fields are skipped.
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

// event reads an event. Events after an error of the server, or after Ollama's last line, are ignored.
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
	e.Choices = slices.DeleteFunc(e.Choices, func(c choice) bool { return c.Index > 0 }) // alternatives
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
	if len(e.Choices) > 0 && e.Choices[0].Finish != "null" { // DashScope writes "null" before the last event
		s.finish = cmp.Or(e.Choices[0].finish(), s.finish)
	}
	if len(e.Usage) > 0 && string(e.Usage) != "null" {
		s.usage = e.Usage
	}
	s.ended = s.ended || e.Done || s.finish != ""
	s.model, s.print = cmp.Or(string(e.Model), s.model), cmp.Or(string(e.Print), s.print)
	return s.add(string(d.Content))
}

// ending matches marks that may end reasoning or a reply.
var ending = regexp.MustCompile(`</(?:seed:)?(?:think|THINK|thinking|reasoning|thought|analysis|reflection|scratchpad)>|\[/THINK\]|◁/think▷|<channel\|>|<\|\w+\|>|assistantfinal|</s>|<eos>`)

// longMark is more than the bytes of any mark that ending matches.
const longMark = 32

// add adds a part of the reply. It holds back text between an opening and a closing mark of reasoning, and, if
// the stream waits, all text before a closing mark, since the prompt may end with the opening mark.
func (s *stream) add(part string) error {
	if part == "" {
		return nil
	}
	s.raw.WriteString(part)
	raw := s.raw.String()
	if s.most > 0 && len(raw) > s.most {
		text, _, _ := llm.SplitThinking(raw)
		return &llm.Error{Kind: llm.ErrTruncated, Billed: llm.BilledYes, Partial: text, Err: fmt.Errorf("the reply exceeds its limit and was cut after %d bytes", len(raw))}
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

// show passes the new part of a text to piece. If a closing mark shows that the text passed so far was
// reasoning, show passes the whole answer after a blank line.
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

// streamEvent is a part of a reply, or a whole reply, in OpenAI's or Ollama's format.
type streamEvent struct {
	Error   json.RawMessage `json:"error"`
	Model   looseText       `json:"model"`
	Print   looseText       `json:"system_fingerprint"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`

	Message delta `json:"message"` // in Ollama's format
	Done    bool  `json:"done"`
}

type choice struct {
	Index   metering.Count `json:"index"`
	Delta   delta          `json:"delta"`   // part of the message in a stream
	Message delta          `json:"message"` // message of a reply in one piece
	Finish  looseText      `json:"finish_reason"`

	Error json.RawMessage `json:"error"` // error of the server behind a gateway
}

// finish returns the reason why a reply ended.
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

// looseText is a string in JSON; an object in its place is kept as JSON text.
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

// whole returns the body that the streamed reply would have in one piece. A body that was no stream, and an
// error of the server, are returned unchanged.
func (s *stream) whole(body []byte) ([]byte, error) {
	if json.Valid(body) && (s.ended || s.raw.Len() == 0) {
		return body, nil
	}
	for range 2 { // twice: the last line may lack its newline, and the last event its blank line
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
		return nil, &llm.Error{Kind: llm.ErrTransient, Billed: llm.BilledUnknown, Err: errors.New("the reply ends before its last part")}
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
