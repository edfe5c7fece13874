// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// maxTopK is the largest top-k of a sweep; as many chunks fill any prompt.
const maxTopK = 1000

// addSweep reads -sweep-topk: a range such as 2..12, a number, or several of
// them separated by commas.
func (s *settings) addSweep(v string) error {
	for part := range strings.SplitSeq(v, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "..")
		if !isRange {
			last = first
		}
		low, err := strconv.Atoi(first)
		high, err2 := strconv.Atoi(last)
		if errors.Join(err, err2) != nil {
			return fmt.Errorf("%q: want a range such as 2..12, or numbers separated by commas", v)
		}
		if low < 1 || high < low || high > maxTopK {
			return fmt.Errorf("%q: want numbers from 1 to %d in ascending order", v, maxTopK)
		}
		for k := low; k <= high; k++ {
			s.sweepTopK = append(s.sweepTopK, k)
		}
	}
	slices.Sort(s.sweepTopK)
	s.sweepTopK = slices.Compact(s.sweepTopK)
	return nil
}

// sweep adds what the summary questions take at every other top-k of the sweep.
func (v volume) sweep(e *paid.Estimate, s settings, systems []system) {
	var answers, judging llm.Usage
	for _, k := range s.sweepTopK {
		for _, sys := range systems {
			if !sys.retrieves || k == s.topKSummary {
				continue
			}
			answers = answers.Add(v.answerSummaries(k))
			judging = judging.Add(v.judgeSummaries(s, k))
		}
	}
	if answers.Calls > 0 {
		e.Add("sweep answer", s.model, answers)
		e.Add("sweep judge", s.judgeModel, judging)
	}
}

func (v volume) answerSummaries(k int) llm.Usage {
	return llm.Usage{
		Calls: v.summaries, PromptTokens: v.summaries * (readPrompt + v.evidence(k)), CompletionTokens: v.summaries * summaryReply,
	}
}

func (v volume) judgeSummaries(s settings, k int) llm.Usage {
	return llm.Usage{
		Calls:            callsOfSummary * v.summaries,
		PromptTokens:     v.summaries * (extractPrompt + matchPrompt + v.shown(s, k)),
		CompletionTokens: v.summaries * (extractReply + matchReply),
	}
}
