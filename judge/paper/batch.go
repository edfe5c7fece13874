// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/score"
	"github.com/wildgraph/wildgraph/llm"
)

// item is one thing a model is asked about. Real items carry their index in
// what the caller asked; canaries carry what they must come out as.
type item struct {
	id       string
	position int // in the batch
	index    int // of a real item, or one of the two below
}

// The places of canaries, which are no indices.
const (
	trueCanary  = -1
	falseCanary = -2
)

func (i item) canary() bool { return i.index < 0 }

// want is the score a canary must get.
func (i item) want() int {
	if i.index == trueCanary {
		return 1
	}
	return 0
}

// fault says what a judge did that got a canary wrong.
func (i item) fault() string {
	if i.index == trueCanary {
		return "denied a plain truth"
	}
	return "granted a plain falsehood"
}

// batch is the items of one call in the order they are shown.
//
// An id is a letter, a number and a code made from the data: text that is
// judged cannot hold the hash of itself, so a verdict that merely repeats what
// stands in the data has no valid id.
type batch struct {
	items []item
	code  string
}

// newBatch numbers n real items and puts canaries between them, at places that
// follow from the seed.
func newBatch(letter, seed string, n int, canaries ...int) batch {
	var b batch
	for i := range n {
		b.items = append(b.items, item{index: i})
	}
	h := sha256.Sum256([]byte("batch " + letter + seed))
	code := hex.EncodeToString(h[:])
	for i, at := range canaries {
		b.items = slices.Insert(b.items, position(code[8*i+8:], len(b.items)+1), item{index: at})
	}
	b.code = code[:6]
	for i := range b.items {
		b.items[i].position = i
		b.items[i].id = fmt.Sprintf("%s%d-%s", letter, i+1, b.code)
	}
	return b
}

// pick is what stands at a real index, or the one of two strings that is a
// canary's.
func (i item) pick(real func(int) string, whenTrue, whenFalse string) string {
	switch i.index {
	case trueCanary:
		return whenTrue
	case falseCanary:
		return whenFalse
	}
	return real(i.index)
}

// listed shows items one to a line, so that none can pass for two.
func listed(items []item, text func(item) string) string {
	lines := make([]string, len(items))
	for i, it := range items {
		lines[i] = it.id + ": " + score.OneLine(text(it))
	}
	return strings.Join(lines, "\n")
}

// line is one verdict of a reply. Every prompt asks for its own part of it.
type line struct {
	ID         json.RawMessage   `json:"id"`
	Reason     json.RawMessage   `json:"reason"`
	Score      json.RawMessage   `json:"score"`
	Gold       []json.RawMessage `json:"gold"`
	Statements []string          `json:"statements"`
}

type lines struct {
	Results []line `json:"results"`
}

// Check implements what llm.Decode asks of replies.
func (l lines) Check() error {
	if l.Results == nil {
		return errors.New(`the key "results" is missing`)
	}
	return nil
}

func (l line) id() string { return strings.ToLower(score.Word(l.ID)) }

// score reads a 0 or a 1 as models write them. Anything else is unusable: a
// guess would be a score.
func (l line) score() (int, bool) {
	switch strings.ToLower(score.Word(l.Score)) {
	case "1", "1.0", "true", "yes", "correct":
		return 1, true
	case "0", "0.0", "false", "no", "incorrect":
		return 0, true
	}
	return 0, false
}

func (l line) same(o line) bool {
	return score.Word(l.Score) == score.Word(o.Score) && slices.Equal(l.Statements, o.Statements) &&
		slices.EqualFunc(l.Gold, o.Gold, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// sift finds the one line of each item that was asked about. Lines under other
// ids and repetitions are counted; a line that contradicts another of the same
// id is no verdict.
func sift(asked []item, found []line, p *judge.Protocol) map[string]line {
	out := make(map[string]line, len(asked))
	torn := make(map[string]bool)
	for _, it := range asked {
		out[it.id] = line{}
	}
	seen := make(map[string]bool, len(asked))
	for _, l := range found {
		id := l.id()
		first, known := out[id]
		switch {
		case !known:
			p.Extra++
		case !seen[id]:
			seen[id] = true
			out[id] = l
		default:
			p.Duplicate++
			torn[id] = torn[id] || !first.same(l)
		}
	}
	for id := range out {
		if !seen[id] || torn[id] {
			delete(out, id)
		}
	}
	return out
}

// errCanary marks a batch whose canaries came out wrong.
var errCanary = errors.New("canary failed")

// errCrossed is a real statement matched with a canary.
var errCrossed = fmt.Errorf("%w: the judge matched a statement with a control item", errCanary)

// run asks until every item has a verdict that accept takes: once for all,
// once more for the missing ones. A denominator that shrinks with a careless
// reply would raise the score. Canaries are part of every call, and a reply
// without them proves nothing: then the whole batch is asked again.
func (j *Judge) run(ctx context.Context, b batch, t *score.Trace, ask func([]item) llm.Request, accept func(item, line) bool) error {
	open := b.items
	for range 2 {
		found, reply, err := llm.Decode[lines](ctx, j.model, ask(open))
		t.Charge(reply.Usage, err)
		if err != nil {
			return err
		}
		verdicts := sift(open, found.Results, &t.Protocol)
		left := make(map[int]bool) // by position in the batch
		all := false
		for _, it := range open {
			l, ok := verdicts[it.id]
			switch {
			case !ok:
				all = all || it.canary()
				left[it.position] = true
			case accept(it, l):
				if it.canary() {
					t.Protocol.Canaries++
				}
			case it.canary():
				t.Protocol.Canaries++
				t.Protocol.FailedCanaries++
				return fmt.Errorf("%w: the judge %s", errCanary, it.fault())
			default:
				left[it.position] = true
			}
		}
		if len(left) == 0 {
			return nil
		}
		open = slices.DeleteFunc(slices.Clone(b.items), func(it item) bool {
			return !all && !it.canary() && !left[it.position]
		})
		t.Protocol.Missing += len(left)
	}
	return &llm.Error{Kind: llm.ErrInvalidOutput, Err: errors.New("no usable verdict on every item")}
}
