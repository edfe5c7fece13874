// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"fmt"
	"strconv"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
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
	Cited  Mode = "cited"  // Reject, and refuse an answer that cites nothing it was shown
)

func (m Mode) check(checks *opt.Checks) {
	checks.Want(m == "" || m == Open || m.Rejects(), "Mode", strconv.Quote(string(m)), fmt.Sprintf("%q, %q or %q", Open, Reject, Cited))
}

// Rejects reports whether the mode refuses without evidence.
func (m Mode) Rejects() bool { return m == Reject || m == Cited }

// Refusal is the text of an answer that declines.
const Refusal = "The evidence does not contain the answer."

// refuse returns the refusal of a reader that found no answer in the evidence.
func refuse(evidence []graphrag.Hit, derived []graphrag.Derived) graphrag.Answer {
	return graphrag.Answer{Text: Refusal, Refused: true, Found: graphrag.Found{Evidence: evidence, Derived: derived}}
}
