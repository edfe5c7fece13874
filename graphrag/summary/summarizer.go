// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Summarizer makes one text of several.
//
// Texts come in the order they are to be read in. Without any text worth a word
// the summary is empty. Summarize does not keep or change its argument, is safe
// for concurrent use, and stops with the context's error when ctx is cancelled.
type Summarizer interface {
	// Name identifies the summarizer in reports: kind, length, model.
	Name() string
	Summarize(ctx context.Context, texts []string) (Summary, error)
}

// Summary is what a [Summarizer] says.
type Summary struct {
	Text string
	// Quotes say where the words come from, in the order of Text. A model's
	// summary has none.
	Quotes []Quote
	// Usage is what the summary cost.
	Usage graphrag.Usage
}

// Quote says that Text[Start:End] of a summary is what bytes SourceStart to
// SourceEnd of a text say, without links and line breaks.
type Quote struct {
	Start, End             int
	Source                 int // index of the text
	SourceStart, SourceEnd int
}

// DefaultWorkers is the number of summaries made at the same time: a model
// answers over a network.
const DefaultWorkers = 8

// summarise makes one summary for each group of texts, in order. report hears
// how many are done.
func summarise(ctx context.Context, s Summarizer, groups [][]string, workers int, report func(done int)) ([]Summary, error) {
	out, errs := make([]Summary, len(groups)), make([]error, len(groups))
	var mu sync.Mutex
	done := 0
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i, texts := range groups {
		g.Go(func() error {
			if errs[i] = inner.Err(); errs[i] == nil {
				out[i], errs[i] = s.Summarize(inner, texts)
			}
			if errs[i] == nil {
				mu.Lock()
				defer mu.Unlock()
				done++
				report(done)
			}
			return errs[i]
		})
	}
	if g.Wait() == nil {
		return out, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// The first error in order that is not only the echo of another one.
	for i, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, fmt.Errorf("group %d of %d: %w", i+1, len(groups), err)
		}
	}
	return nil, errors.Join(errs...)
}

func workersOrDefault(n int) int {
	if n == 0 {
		return max(DefaultWorkers, runtime.GOMAXPROCS(0))
	}
	return n
}

// printable drops control characters and bytes that are not valid UTF-8:
// servers refuse them, and no reader sees them.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r != unicode.ReplacementChar && !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
}
