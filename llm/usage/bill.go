// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/llm"
)

// Bill is what the attempts of one call cost, as the transport below reports
// them: replies carry their usage, but embeddings and attempts that failed cannot.
// Ledgers and budgets read it. What is written on a bill stands on those around
// it too.
type Bill struct {
	// Retry, if set before use, is asked before a call is tried again; its error
	// ends the call.
	Retry func() error

	outer   *Bill
	known   tally
	unknown atomic.Int64
}

// Known is what providers said was used.
func (b *Bill) Known() llm.Usage { return b.known.sum() }

// Unknown is the number of attempts that may have been billed without a trace:
// timeouts and lost connections.
func (b *Bill) Unknown() int { return int(b.unknown.Load()) }

type billKey struct{}

// WithBill writes the calls under the returned context on b. A bill is for one
// context.
func WithBill(ctx context.Context, b *Bill) context.Context {
	b.outer = billOf(ctx)
	return context.WithValue(ctx, billKey{}, b)
}

func billOf(ctx context.Context) *Bill {
	b, _ := ctx.Value(billKey{}).(*Bill)
	return b
}

// Record writes the usage of an attempt on the bill of ctx. Transports, and
// models that do not stand on one, call it once per attempt.
func Record(ctx context.Context, u llm.Usage) {
	for b := billOf(ctx); b != nil; b = b.outer {
		b.known.add(u)
	}
}

// RecordUnknown writes down an attempt that may have been billed.
func RecordUnknown(ctx context.Context) {
	for b := billOf(ctx); b != nil; b = b.outer {
		b.unknown.Add(1)
	}
}

// MayRetry asks all bills of ctx, the outermost first, whether a call may be tried
// again. Transports call it before every attempt but the first.
func MayRetry(ctx context.Context) error { return billOf(ctx).mayRetry() }

func (b *Bill) mayRetry() error {
	if b == nil {
		return nil
	}
	if err := b.outer.mayRetry(); err != nil || b.Retry == nil {
		return err
	}
	return b.Retry()
}

type (
	stageKey    struct{}
	questionKey struct{}
)

// WithStage names the stage of calls that carry no [llm.Request], such as
// embeddings.
func WithStage(ctx context.Context, stage string) context.Context {
	return context.WithValue(ctx, stageKey{}, stage)
}

// StageOf returns the stage set by [WithStage], or "".
func StageOf(ctx context.Context) string {
	stage, _ := ctx.Value(stageKey{}).(string)
	return stage
}

// WithQuestion names the question that such calls are made for.
func WithQuestion(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, questionKey{}, id)
}

// QuestionOf returns the question set by [WithQuestion], or "".
func QuestionOf(ctx context.Context) string {
	id, _ := ctx.Value(questionKey{}).(string)
	return id
}
