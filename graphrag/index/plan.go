// SPDX-License-Identifier: Apache-2.0

package index

import (
	"context"
	"errors"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// The stages.
const (
	Documents   = "documents"
	Cut         = "cut"
	Extract     = "extract"
	Embed       = "embed"
	Write       = "write"
	Graph       = "graph"
	Communities = "communities"
	Reports     = "reports"
	Publish     = "publish"
)

// The endpoints that tasks wait for.
const (
	Chat    = "chat"
	Vectors = "vectors"
)

// Stage is one kind of task. Its tasks do not depend on each other.
type Stage struct {
	Name string `json:"name"`
	// Barrier makes it one task, over everything, once all tasks before are done.
	// Otherwise it has a task for each batch that a task of the stage before hands on,
	// at once.
	Barrier bool `json:"barrier,omitempty"`
	// Endpoint is the service that its tasks wait for, [Chat] or [Vectors]; "" is the
	// processor.
	Endpoint string `json:"endpoint,omitempty"`
}

// Plan is the stages of an index, in order.
type Plan []Stage

// Pipe is the first stage after from that is a barrier, or the end.
func (p Plan) Pipe(from int) int {
	for from < len(p) && !p[from].Barrier {
		from++
	}
	return from
}

// Batch refers to a list of N things in the store.
type Batch struct {
	Ref string `json:"ref"` // SHA-256, hexadecimal
	N   int    `json:"n"`
}

// Job is what is to be indexed, by reference. It is small, whatever the corpus is.
type Job struct {
	Plan Plan `json:"plan"`
	// Root is the list of all pages; N counts documents.
	Root Batch `json:"root"`
	// Pages are lists of batches of documents: what the first stage has tasks for.
	Pages []Batch `json:"pages"`
}

// Task is a piece of work.
type Task struct {
	Stage string `json:"stage"`
	Batch Batch  `json:"batch"`
	Root  string `json:"root"` // that of the job
}

// Done is what came of a task.
type Done struct {
	// Next are the batches of the next stage, in rounds: a round begins when the one
	// before is done.
	Next [][]Batch `json:"next,omitempty"`
	// Items is how many things were made, such as chunks; Failed how many of them the
	// model gave nothing for.
	Items  int `json:"items"`
	Failed int `json:"failed,omitempty"`
	// Usage and Cost are those of the replies that it needed, whoever asked for them,
	// and when.
	Usage llm.Usage `json:"usage"`
	Cost  paid.Cost `json:"cost"`
}

// Doer does tasks. [Index] is one.
type Doer interface {
	// Do does a task. Doing it again comes to the same.
	Do(ctx context.Context, t Task) (Done, error)
}

// Progress is how far a job is.
type Progress struct {
	Stages []StageProgress `json:"stages"`
	// Cost is what is known so far; it is of replies, each counted once.
	Cost paid.Cost `json:"cost"`
}

// StageProgress is how far a stage is.
type StageProgress struct {
	Name string `json:"name"`
	// Tasks are known so far, and Done of them are done.
	Tasks int `json:"tasks"`
	Done  int `json:"done"`
	// Items and Failed are those of tasks that are done.
	Items  int       `json:"items"`
	Failed int       `json:"failed,omitempty"`
	Usage  llm.Usage `json:"usage"`
}

// NewProgress is that of a job that has not begun.
func NewProgress(p Plan) Progress {
	out := Progress{Stages: make([]StageProgress, len(p))}
	for i, s := range p {
		out.Stages[i].Name = s.Name
	}
	return out
}

// Add counts a task of a stage that is done.
func (p *Progress) Add(stage int, d Done) {
	s := &p.Stages[stage]
	s.Done++
	s.Items, s.Failed, s.Usage = s.Items+d.Items, s.Failed+d.Failed, s.Usage.Add(d.Usage)
	p.Cost = p.Cost.Add(d.Cost)
}

// Retry tells whether a task that failed may do better at another time, and how long
// to wait, if the service said so.
func Retry(err error) (again bool, after time.Duration) {
	var failed *llm.Error
	var throttled *store.ThrottledError
	switch {
	case errors.As(err, &failed):
		return failed.Retryable(), failed.RetryAfter
	case errors.As(err, &throttled):
		return true, throttled.After
	}
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrConflict), 0
}
