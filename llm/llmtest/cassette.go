// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// ErrNotRecorded says that a cassette holds no such request.
var ErrNotRecorded = errors.New("llmtest: this request is not on the cassette: record it again")

// blot stands where a secret stood.
const blot = "***"

// maxLine limits a line of a cassette, in bytes.
const maxLine = 64 << 20

// keyShapes matches what keys, tokens and ids of accounts look like.
var keyShapes = regexp.MustCompile(`\b(?:sk|pk|gsk|hf|xai|org|proj|sess)[-_][A-Za-z0-9_\-]{12,}|\bAIza[A-Za-z0-9_\-]{20,}|(?i:\bbearer\s+[^\s"'\\,}]+)`)

// scrub blots secrets out of a text.
func scrub(text string, secrets []string) string {
	for _, s := range secrets {
		if len(s) >= 4 { // shorter ones ("-") are placeholders
			text = strings.ReplaceAll(text, s, blot)
		}
	}
	return keyShapes.ReplaceAllString(text, blot)
}

// scrubURL leaves out credentials and the values of telling parameters.
func scrubURL(u *url.URL, secrets []string) string {
	shown := *u
	shown.User = nil
	q := shown.Query()
	for name := range q {
		if secretParameter(name) {
			q[name] = []string{blot}
		}
	}
	shown.RawQuery = q.Encode()
	return scrub(shown.String(), secrets)
}

func secretParameter(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"key", "token", "secret", "sig", "password", "auth"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// tape is a cassette being replayed: what was recorded, by request.
type tape[T any] struct {
	mu    sync.Mutex
	lines map[string][]T
}

// readTape reads a cassette; split tells a line's request from its outcome.
func readTape[T any](r io.Reader, split func(line []byte) (request string, outcome T, err error)) (*tape[T], error) {
	t := &tape[T]{lines: map[string][]T{}}
	for l, err := range jsonl.Read[json.RawMessage](r, jsonl.Options{Name: "llmtest: cassette", MaxLine: maxLine}) {
		if err != nil {
			return nil, err
		}
		request, outcome, err := split(l.Value)
		if err != nil {
			return nil, &jsonl.Error{File: "llmtest: cassette", Line: l.Number, Err: err}
		}
		t.lines[request] = append(t.lines[request], outcome)
	}
	return t, nil
}

// play takes the next outcome of a request.
func (t *tape[T]) play(request string) (T, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.lines[request]
	if len(all) == 0 {
		var zero T
		return zero, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo,
			Err: fmt.Errorf("%w (%d others are): %s", ErrNotRecorded, len(t.lines), clip(request, 400))}
	}
	if len(all) > 1 {
		t.lines[request] = all[1:]
	}
	return all[0], nil
}

// clip cuts a text at a limit in bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// lineWriter writes one JSON line at a time.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("llmtest: record: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("llmtest: record: %w", err)
	}
	return nil
}
