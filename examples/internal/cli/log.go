// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

const (
	everyLine = 10 * time.Second // between two lines of one message
	longest   = 500              // of a value, in bytes
)

// NewLogger writes warnings and errors to w, a line each. A message that is repeated gets one line in
// ten seconds, with the number of repetitions left out.
func NewLogger(w io.Writer) *slog.Logger {
	return slog.New(&lineHandler{w: w, said: map[string]*messageState{}})
}

type lineHandler struct {
	w    io.Writer
	mu   sync.Mutex
	said map[string]*messageState
}

// messageState counts the repetitions of a message since it was last written.
type messageState struct {
	at   time.Time
	left int
}

func (l *lineHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}
func (l *lineHandler) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *lineHandler) WithGroup(string) slog.Handler      { return l }

func (l *lineHandler) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.said[r.Message]
	if s == nil {
		s = &messageState{}
		l.said[r.Message] = s
	}
	if r.Time.Sub(s.at) < everyLine {
		s.left++
		return nil
	}
	var b strings.Builder
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		value := a.Value.String()
		if a.Value.Kind() == slog.KindDuration {
			value = a.Value.Duration().Round(100 * time.Millisecond).String()
		}
		if len(value) > longest {
			value = strings.ToValidUTF8(value[:longest], "") + "…"
		}
		fmt.Fprintf(&b, ", %s: %s", strings.ReplaceAll(a.Key, "_", " "), value)
		return true
	})
	if s.left > 0 {
		fmt.Fprintf(&b, " (and %d times before)", s.left)
	}
	s.at, s.left = r.Time, 0
	_, err := fmt.Fprintln(l.w, strings.Join(strings.Fields(text.Printable(b.String())), " "))
	return err
}
