// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Reader answers a question from evidence.
//
// evidence are ranked chunks, best first; derived is text made from sources,
// such as facts of a graph or summaries. Both may be empty. The answer reports
// in Evidence and Derived what was really read, and its Citations point into
// Evidence; Ranked is left to the caller. Read does not keep or change its
// arguments. It is safe for concurrent use and stops with the context's error
// when ctx is cancelled.
type Reader interface {
	// Name describes the reader in reports: kind, mode, model.
	Name() string
	Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error)
}

// Mode says what a reader does when the evidence does not hold the answer. The
// empty Mode means Open.
type Mode string

// The modes.
const (
	Open   Mode = "open"   // answer all the same
	Reject Mode = "reject" // say Refusal
)

func (m Mode) check(checks *opt.Checks) {
	checks.Want(m == "" || m == Open || m == Reject, "Mode", strconv.Quote(string(m)), fmt.Sprintf("%q or %q", Open, Reject))
}

// Refusal is the text of an answer that is none, and the sentence that models
// are told to say.
const Refusal = "The evidence does not contain the answer."

// refusals are what models say instead, folded. The whole answer must be one
// of them, or a single sentence that begins with one.
var refusals = []string{
	"the evidence does not contain",
	"the passages do not contain",
	"the provided passages do not contain",
	"the context does not contain",
	"the provided context does not contain",
	"the evidence does not provide",
	"i don't know",
	"i do not know",
	"i cannot answer",
	"i can't answer",
	"there is not enough information",
	"not enough information",
	"insufficient information",
	"我不知道", "我无法回答", "无法回答", "证据中没有", "证据不包含", "材料中没有", "提供的材料中没有", "没有足够的信息",
}

// IsRefusal tells whether an answer declines to answer: it begins with
// [Refusal], or is one sentence that says the same in other usual words.
func IsRefusal(answer string) bool {
	answer = strings.Trim(answer, " \t\r\n\"'*_`.“”")
	folded := strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(answer, "’", "'"))), " ")
	if strings.HasPrefix(folded, strings.ToLower(strings.TrimSuffix(Refusal, "."))) {
		return true
	}
	return len(text.Sentences(answer)) == 1 && slices.ContainsFunc(refusals, func(r string) bool {
		return strings.HasPrefix(folded, r)
	})
}

// refuse returns the answer of a reader that read evidence and found nothing.
func refuse(evidence []graphrag.Hit, derived []graphrag.Derived) graphrag.Answer {
	return graphrag.Answer{Text: Refusal, Refused: true, Evidence: evidence, Derived: derived}
}
