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
// evidence is the ranked chunks, best first; derived is text made from sources, such as
// facts of a graph or summaries. Both may be empty. Answer.Evidence and Answer.Derived are
// the texts that were read, and the citations index them; Ranked is set by the caller.
// Read neither keeps nor changes its arguments, is safe for concurrent use, and returns
// the error of ctx when ctx is cancelled.
type Reader interface {
	// Name describes the reader in reports: kind, mode, model.
	Name() string
	Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error)
}

// Func makes a [Reader] of a function. Its name is "function".
type Func func(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error)

// Name is "function".
func (Func) Name() string { return "function" }

// Read calls f.
func (f Func) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	return f(ctx, q, evidence, derived)
}

// Mode is how a reader answers when the evidence does not contain the answer. The empty
// Mode means Open.
type Mode string

// The modes.
const (
	Open   Mode = "open"   // answer all the same
	Reject Mode = "reject" // say Refusal
)

func (m Mode) check(checks *opt.Checks) {
	checks.Want(m == "" || m == Open || m == Reject, "Mode", strconv.Quote(string(m)), fmt.Sprintf("%q or %q", Open, Reject))
}

// Refusal is the text of an answer that declines, and the sentence that models are told to
// use for it.
const Refusal = "The evidence does not contain the answer."

// refusals are beginnings of other sentences by which models decline, folded. The answer
// must be one sentence.
var refusals = []string{
	"the evidence does not contain",
	"the passages do not contain",
	"the provided passages do not contain",
	"the context does not contain",
	"the provided context does not contain",
	"the evidence does not provide",
	"i don't know",
	"i do not know",
	"i cannot answer", "i can't answer", "i am unable to answer", "i'm unable to answer", "unable to answer",
	"i must decline", "i have to decline", "i decline", "i reject", "the question cannot be answered", "this question cannot be answered",
	"the retrieved knowledge is not", "the retrieved knowledge does not", "the extracted knowledge is not", "the extracted knowledge does not",
	"the knowledge is not enough", "the knowledge does not",
	"there is not enough information",
	"not enough information",
	"insufficient information",
	"我不知道", "我无法回答", "无法回答", "证据中没有", "证据不包含", "材料中没有", "提供的材料中没有", "没有足够的信息",
}

// IsRefusal reports whether an answer declines: it begins with [Refusal], or is one
// sentence of the same meaning in other usual words.
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

// refuse returns the refusal of a reader that found no answer in the evidence.
func refuse(evidence []graphrag.Hit, derived []graphrag.Derived) graphrag.Answer {
	return graphrag.Answer{Text: Refusal, Refused: true, Found: graphrag.Found{Evidence: evidence, Derived: derived}}
}
