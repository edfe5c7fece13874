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

// everyLine is how long lines of one message keep apart.
const everyLine = 10 * time.Second

// longest is how much is written of one value, in bytes.
const longest = 500

// NewLogger writes what a person who waits should know, warnings and worse, a line
// each: of one message a line every ten seconds, with the number of those between.
func NewLogger(w io.Writer) *slog.Logger {
	return slog.New(&lines{w: w, said: map[string]*said{}})
}

type lines struct {
	w    io.Writer
	mu   sync.Mutex
	said map[string]*said
}

// said is when a message was last written, and how often it was not since.
type said struct {
	at   time.Time
	left int
}

func (l *lines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *lines) WithGroup(string) slog.Handler                    { return l }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.said[r.Message]
	if s == nil {
		s = &said{}
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
