// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
)

// Summarizer makes one text of several, of about so many tokens: written by the model
// that builds, or, without one and where its reply cannot be used, quoted.
func (k Kit) Summarizer(tokens int) (summary.Summarizer, error) {
	quote, err := k.Quoter(tokens)
	if err != nil || k.IndexModel == nil {
		return quote, err
	}
	write, err := summary.ByModel(summary.ModelOptions{Model: k.IndexModel, Tokens: tokens})
	return fallingBack{write, quote}, err
}

// Quoter quotes about so many tokens of several texts. It is the same for all who ask the
// kit or a copy of it, so that what several systems quote of the same texts is quoted once
// under a memo.
func (k Kit) Quoter(tokens int) (summary.Summarizer, error) {
	if k.quoters == nil {
		return newQuoters(k.Count).of(tokens)
	}
	return k.quoters.of(tokens)
}

// fallingBack quotes where the writer fails at a text.
type fallingBack struct {
	summary.Summarizer
	quote summary.Summarizer
}

func (s fallingBack) Summarize(ctx context.Context, texts []string) (summary.Summary, error) {
	written, err := s.Summarizer.Summarize(ctx, texts)
	if err == nil && written.Text == "" && strings.TrimSpace(strings.Join(texts, "")) != "" {
		err = fmt.Errorf("summary: %w", llm.ErrEmpty)
	}
	if err != nil && !llm.OfOneReply(err) {
		return summary.Summary{}, err
	}
	if Done(ctx, summary.Stage, err); err != nil {
		return s.quote.Summarize(ctx, texts)
	}
	return written, nil
}
