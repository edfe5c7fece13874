// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm"
)

// ModelOptions are the options of [ByModel].
type ModelOptions struct {
	// Model answers. It is required.
	Model llm.Model
	// Mode is Open if empty.
	Mode Mode
	// MaxContextTokens bounds the quoted material in the prompt; 0 means no
	// bound. At most half of it goes to derived text, the rest to evidence, both
	// in the order given, up to the first piece that does not fit. If nothing
	// fits at all, the first passage is cut.
	MaxContextTokens int
	// CountTokens counts the tokens of a text, see tokens.Counter. It is
	// required with MaxContextTokens.
	CountTokens func(string) int
	// MaxTokens bounds the reply, and Temperature is passed on; zero values
	// leave both to the server.
	MaxTokens   int
	Temperature *float64
}

// ByModel returns a reader that asks a language model. Passages are numbered,
// and the numbers the model cites become citations; the marks themselves are
// taken out of the answer. The instruction depends on the type of the
// question: one sentence for a fact, everything relevant for a summary.
//
// Without evidence, Open asks the model for what it knows, and Reject refuses
// without a call. Errors are those of the model, wrapped.
func ByModel(o ModelOptions) (Reader, error) {
	errs := []error{o.Mode.check()}
	if o.Model == nil {
		errs = append(errs, errors.New("reader: Model is missing"))
	}
	if o.MaxContextTokens < 0 {
		errs = append(errs, fmt.Errorf("reader: MaxContextTokens %d must not be negative", o.MaxContextTokens))
	}
	if o.MaxContextTokens > 0 && o.CountTokens == nil {
		errs = append(errs, errors.New("reader: MaxContextTokens needs CountTokens, e.g. the Count of a tokens.Counter"))
	}
	if o.MaxTokens < 0 {
		errs = append(errs, fmt.Errorf("reader: MaxTokens %d must not be negative", o.MaxTokens))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	o.Mode = o.Mode.orDefault()
	return &byModel{o}, nil
}

type byModel struct{ o ModelOptions }

// Name implements [Reader].
func (r *byModel) Name() string {
	return "model/" + string(r.o.Mode) + "/" + r.o.Model.Name()
}

// Read implements [Reader].
func (r *byModel) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	if err := ctx.Err(); err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: answer %q: %w", q.Text, err)
	}
	evidence, derived = r.fit(evidence, derived)
	if len(evidence) == 0 && len(derived) == 0 && r.o.Mode == Reject {
		return refuse(nil, nil), nil
	}
	req, err := request(q, evidence, derived, r.o.Mode)
	if err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: prompt for %q: %w", q.Text, err)
	}
	req.MaxTokens = r.o.MaxTokens
	req.Temperature = r.o.Temperature
	reply, err := r.o.Model.Generate(ctx, req)
	if err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: answer %q: %w", q.Text, err)
	}
	answer := graphrag.Answer{Text: strings.TrimSpace(reply.Text), Evidence: evidence, Derived: derived, Usage: reply.Usage}
	if len(evidence) > 0 {
		answer.Text, answer.Citations = cite(reply.Text, len(evidence))
	}
	if answer.Refused = IsRefusal(answer.Text); answer.Refused {
		answer.Citations = nil
	}
	return answer, nil
}

// fit returns what of the material goes into the prompt.
func (r *byModel) fit(evidence []graphrag.Hit, derived []graphrag.Derived) ([]graphrag.Hit, []graphrag.Derived) {
	if r.o.MaxContextTokens == 0 {
		return evidence, derived
	}
	count := r.o.CountTokens
	left := r.o.MaxContextTokens
	if len(evidence) > 0 {
		left /= 2
	}
	var notes []graphrag.Derived
	used := 0
	for _, d := range derived {
		n := count(d.Text)
		if used+n > left {
			break
		}
		used += n
		notes = append(notes, d)
	}
	left = r.o.MaxContextTokens - used
	for i, h := range evidence {
		n := count(passage(h.Chunk))
		if n > left {
			if i == 0 && len(notes) == 0 {
				return []graphrag.Hit{shorten(h, left, count)}, nil
			}
			return evidence[:i:i], notes
		}
		left -= n
	}
	return evidence, notes
}

// shorten cuts a hit to as many whole words as fit into a number of tokens,
// and moves the end of its source span accordingly.
func shorten(h graphrag.Hit, tokens int, count func(string) int) graphrag.Hit {
	full := h.Chunk
	words := strings.Fields(full.Text)
	cut := func(n int) string { // the first n words
		end := 0
		for _, w := range words[:n] {
			end += strings.Index(full.Text[end:], w) + len(w)
		}
		return full.Text[:end]
	}
	low, high := 0, len(words) // low words fit, high+1 do not
	for low < high {
		middle := (low + high + 1) / 2
		h.Chunk.Text = cut(middle)
		if count(passage(h.Chunk)) <= tokens {
			low = middle
		} else {
			high = middle - 1
		}
	}
	h.Chunk.Text = cut(low)
	if isSourceSpan(full) {
		h.Chunk.End = full.Start + len(h.Chunk.Text)
	}
	h.Chunk.Tokens = 0 // no longer known in the splitter's units
	return h
}

// isSourceSpan tells whether the text of a chunk is its source span, byte for
// byte, and was not cleaned. Cleaning only ever takes bytes away.
func isSourceSpan(c graphrag.Chunk) bool { return len(c.Text) == c.End-c.Start }
