// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/examples/ask/desk"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// maxQuestion bounds a line of a file of questions or of a dialogue, in bytes.
const maxQuestion = 64 << 10

// fileQuestion is a line of a file of questions.
type fileQuestion struct {
	ID       string `json:"id"`
	Question string `json:"question"`
}

// readQuestions reads questions, one per line, as text or as objects of JSON.
func readQuestions(r io.Reader) (out []fileQuestion, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxQuestion)
	n := 1
	for ; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if !utf8.ValidString(line) {
			return nil, fmt.Errorf("line %d is not UTF-8: save the file as UTF-8", n)
		}
		q := fileQuestion{Question: line}
		if strings.HasPrefix(line, "{") {
			q = fileQuestion{}
			if err := json.Unmarshal([]byte(line), &q); err != nil || strings.TrimSpace(q.Question) == "" {
				return nil, fmt.Errorf("line %d is not an object with a \"question\": %w", n, cmp.Or(err, errors.New("it has none")))
			}
		}
		if q.Question != "" {
			out = append(out, q)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d bytes", n, maxQuestion)
	}
	return out, lines.Err()
}

// batch answers a file of questions concurrently, and writes the replies in order. A reply that failed has
// its error.
func batch(ctx context.Context, d *desk.Desk, s settings, std streams) error {
	in := std.in
	if s.questions != "-" {
		f, err := os.Open(s.questions)
		if err != nil {
			return cli.Usagef("-questions: %w", err)
		}
		defer f.Close()
		in = f
	}
	questions, err := readQuestions(in)
	if err != nil {
		return fmt.Errorf("-questions %s: %w", s.questions, err)
	}
	failed, next := 0, 0 // next is the first question whose reply is not written
	var mu sync.Mutex
	replies := make([]*desk.Reply, len(questions))
	err = kit.Each(ctx, len(questions), func(ctx context.Context, i int) error {
		r, err := d.Ask(ctx, desk.Query{Question: questions[i].Question})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		mu.Lock()
		defer mu.Unlock()
		if r.ID = questions[i].ID; err != nil {
			r.Question, r.Error = questions[i].Question, err.Error()
			failed++
		}
		replies[i] = &r
		for ; next < len(replies) && replies[next] != nil; next++ {
			if err := writeJSON(std.out, *replies[next], s.verbose); err != nil {
				return err
			}
			replies[next] = &desk.Reply{}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d questions failed, as their lines say", failed, len(questions))
	}
	return nil
}
