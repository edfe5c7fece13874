// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wildgraph/wildgraph/graphrag/index"
)

// state is a job on its way: all that one history hands on to the next.
type state struct {
	Job     index.Job `json:"job"`
	Options Options   `json:"options"`
	// Stage is the first of the stages that are under way, up to the next barrier.
	Stage int `json:"stage"`
	// Rounds are the batches for it that must wait for those before.
	Rounds [][]index.Batch `json:"rounds,omitempty"`
	// Pending are batches that can be begun, by stage.
	Pending  [][]index.Batch `json:"pending"`
	Progress index.Progress  `json:"progress"`
}

func begin(job index.Job, o Options) state {
	s := state{Job: job, Options: o, Rounds: [][]index.Batch{job.Pages}, Pending: make([][]index.Batch, len(job.Plan)), Progress: index.NewProgress(job.Plan)}
	s.Job.Pages = nil
	return s
}

// The retries of tasks: without an end, since a job that waited for days for its
// services is worth more than one that failed.
var retries = temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}

// longest is the most that a task takes; a dead worker is noticed by its heartbeat.
const longest = 7 * 24 * time.Hour

// run is one history of a job.
type run struct {
	state
	ctx      workflow.Context
	underway []int // tasks by stage
	selector workflow.Selector
	err      error
}

// build is the workflow.
func build(ctx workflow.Context, s state) (index.Progress, error) {
	r := &run{state: s, ctx: ctx, underway: make([]int, len(s.Job.Plan)), selector: workflow.NewSelector(ctx)}
	err := workflow.SetQueryHandler(ctx, queryName, func() (index.Progress, error) { return r.Progress, nil })
	for err == nil && r.Stage < len(r.Job.Plan) {
		if err = r.stages(); err == nil && r.full() && r.Stage < len(r.Job.Plan) {
			return r.Progress, workflow.NewContinueAsNewError(ctx, workflowName, r.state)
		}
	}
	return r.Progress, err
}

// full tells that the history must not grow any more.
func (r *run) full() bool { return workflow.GetInfo(r.ctx).GetContinueAsNewSuggested() }

// stages does the stage that is a barrier, or those up to the next barrier. When the
// history is full it stops in between, with nothing under way.
func (r *run) stages() error {
	if r.Job.Plan[r.Stage].Barrier {
		r.start(r.Stage, r.Job.Root)
		r.selector.Select(r.ctx)
		r.Stage++
		return r.err
	}
	end := r.Job.Plan.Pipe(r.Stage)
	for {
		for r.err == nil && !r.full() && r.next(end) {
		}
		switch {
		case r.err != nil:
			return r.err
		case r.busy(end):
			r.selector.Select(r.ctx)
		case r.full() && r.waiting(end):
			return nil
		case len(r.Rounds) == 0:
			r.Stage = end
			return nil
		default:
			r.add(r.Stage, r.Rounds[0])
			r.Rounds = r.Rounds[1:]
		}
	}
}

// early is how many tasks of a stage that waits for no service are begun before the first
// is done, and then one more for each: what comes behind it begins soon, instead of when a
// window of them has gone through the server.
const early = 8

// next begins the task that is nearest to the end, if one can be begun. A stage waits
// while the one behind it has enough to do.
func (r *run) next(end int) bool {
	for i := end - 1; i >= r.Stage; i-- {
		pending := r.Pending[i]
		limit := r.Options.Window
		if r.Job.Plan[i].Endpoint == "" {
			limit = min(limit, early+r.Progress.Stages[i].Done)
		}
		if l := r.Options.Limits[r.Job.Plan[i].Endpoint].Concurrent; l > 0 {
			limit = min(limit, l)
		}
		held := i+1 < end && len(r.Pending[i+1])+r.underway[i+1] >= r.Options.Window
		if len(pending) == 0 || held || r.underwayAt(i) >= limit {
			continue
		}
		r.Pending[i] = pending[1:]
		r.start(i, pending[0])
		return true
	}
	return false
}

// underwayAt counts the tasks of the endpoint of a stage.
func (r *run) underwayAt(stage int) (n int) {
	for i, s := range r.Job.Plan {
		if s.Endpoint == r.Job.Plan[stage].Endpoint {
			n += r.underway[i]
		}
	}
	return n
}

func (r *run) busy(end int) bool {
	for i := r.Stage; i < end; i++ {
		if r.underway[i] > 0 {
			return true
		}
	}
	return false
}

func (r *run) waiting(end int) bool {
	for i := r.Stage; i < end; i++ {
		if len(r.Pending[i]) > 0 {
			return true
		}
	}
	return len(r.Rounds) > 0
}

func (r *run) add(stage int, batches []index.Batch) {
	r.Pending[stage] = append(r.Pending[stage], batches...)
	r.Progress.Stages[stage].Tasks += len(batches)
}

// start begins a task. Its end comes by the selector.
func (r *run) start(stage int, b index.Batch) {
	s := r.Job.Plan[stage]
	ctx := workflow.WithActivityOptions(r.ctx, workflow.ActivityOptions{
		TaskQueue: r.Options.queue(s.Endpoint), StartToCloseTimeout: longest, HeartbeatTimeout: r.Options.Heartbeat, RetryPolicy: &retries,
	})
	if s.Barrier {
		r.Progress.Stages[stage].Tasks++
	}
	r.underway[stage]++
	task := index.Task{Stage: s.Name, Batch: b, Root: r.Job.Root.Ref}
	r.selector.AddFuture(workflow.ExecuteActivity(ctx, activityName, task), func(f workflow.Future) {
		r.underway[stage]--
		var done index.Done
		if err := f.Get(r.ctx, &done); err != nil {
			if r.err == nil {
				r.err = err
			}
			return
		}
		r.Progress.Add(stage, done)
		switch {
		case s.Barrier:
			r.Rounds = done.Next
		case stage+1 < len(r.Job.Plan) && !r.Job.Plan[stage+1].Barrier:
			for _, round := range done.Next {
				r.add(stage+1, round)
			}
		}
	})
}
