// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/summary"
)

// quoters are the summarizers of a kit, by their tokens.
type quoters struct {
	count func(string) int
	mu    sync.Mutex
	made  map[int]summary.Summarizer
}

func newQuoters(count func(string) int) *quoters {
	return &quoters{count: count, made: make(map[int]summary.Summarizer)}
}

func (q *quoters) of(tokens int) (summary.Summarizer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.made[tokens]; s != nil {
		return s, nil
	}
	s, err := summary.Extractive(summary.ExtractiveOptions{Tokens: tokens, CountTokens: q.count})
	if err == nil {
		q.made[tokens] = s
	}
	return s, err
}
