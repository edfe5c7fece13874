// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm"
)

// Options of a job and of its workers, which must be the same. All fields have defaults.
type Options struct {
	// Queue is the name of the task queue; "" means "wildgraph".
	Queue string
	// Shares is the number of shares into which a job is divided; 0 means 8.
	Shares int
	// Slots is the number of shares that a worker processes concurrently; 0 means 1.
	Slots int
	// Heartbeat is the time without a heartbeat after which a worker counts as dead; 0 means 30 s.
	Heartbeat time.Duration
}

const (
	defaultQueue     = "wildgraph"
	defaultShares    = 8
	defaultHeartbeat = 30 * time.Second

	workflowName = "wildgraph-index"
	activityName = "wildgraph-share"
	queryName    = "progress"
)

func (o Options) resolve() (Options, error) {
	if o.Shares < 0 || o.Slots < 0 || o.Heartbeat < 0 {
		return o, fmt.Errorf("temporal: Shares, Slots and Heartbeat are %d, %d and %v, want 0 or more", o.Shares, o.Slots, o.Heartbeat)
	}
	o.Queue, o.Shares = cmp.Or(o.Queue, defaultQueue), cmp.Or(o.Shares, defaultShares)
	o.Slots, o.Heartbeat = cmp.Or(o.Slots, 1), cmp.Or(o.Heartbeat, defaultHeartbeat)
	return o, nil
}

// Worker processes shares of all jobs in its queue.
type Worker struct{ worker.Worker }

// NewWorker returns a worker that calls d for each share.
func NewWorker(c client.Client, d index.Doer, o Options) (*Worker, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	w := worker.New(c, o.Queue, worker.Options{MaxConcurrentActivityExecutionSize: o.Slots})
	w.RegisterActivityWithOptions(shares{d, o.Heartbeat}.do, activity.RegisterOptions{Name: activityName})
	w.RegisterWorkflowWithOptions(build, workflow.RegisterOptions{Name: workflowName})
	return &Worker{w}, nil
}

// Run processes shares until ctx is cancelled. Other workers then process the shares that are not finished.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.Start(); err != nil {
		return fmt.Errorf("temporal: starting the worker: %w", err)
	}
	<-ctx.Done()
	w.Stop()
	return nil
}

// shares implements the activity that processes a share.
type shares struct {
	index.Doer
	heartbeat time.Duration
}

// do processes a share, and sends heartbeats to the server meanwhile.
func (s shares) do(ctx context.Context, share index.Share) (index.Done, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	go watch(ctx, s.heartbeat/4, func() { activity.RecordHeartbeat(ctx) })
	done, err := s.Do(ctx, share)
	return done, failure(ctx, err)
}

// watch calls look at intervals until ctx is cancelled.
func watch(ctx context.Context, every time.Duration, look func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			look()
		case <-ctx.Done():
			return
		}
	}
}

// Types of failures, as the Temporal server shows them.
const (
	Throttled = "throttled"
	Passing   = "passing"
	Final     = "final"
)

// failure converts an error for the server: whether the share is tried again, and when.
func failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	again, after := errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrConflict) || ctx.Err() != nil, time.Duration(0) // ctx.Err: the worker is stopping
	var failed *llm.Error
	var throttled *store.ThrottledError
	switch {
	case errors.As(err, &failed):
		again, after = again || failed.Retryable(), failed.RetryAfter
	case errors.As(err, &throttled):
		again, after = true, throttled.After
	}
	switch {
	case again && after > 0:
		return temporal.NewApplicationErrorWithOptions(err.Error(), Throttled, temporal.ApplicationErrorOptions{NextRetryDelay: after})
	case again:
		return temporal.NewApplicationError(err.Error(), Passing)
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), Final, nil)
}

// ID returns the workflow ID of a job, which is the same each time the job is started.
func ID(job string, o Options) string { return cmp.Or(o.Queue, defaultQueue) + "-" + job }

// Progress returns the progress of a job. At least one worker must be alive.
func Progress(ctx context.Context, c client.Client, job string, o Options) (p index.Progress, err error) {
	value, err := c.QueryWorkflow(ctx, ID(job, o), "", queryName)
	if err == nil {
		err = value.Get(&p)
	}
	if err != nil {
		return p, fmt.Errorf("temporal: querying the progress of the job: %w", err)
	}
	return p, nil
}

// watching is the interval at which [Run] queries the progress.
const watching = 2 * time.Second

// Run starts the job with a name, or finds the running one, and waits for its end. After that
// [index.Index.Build] makes no call of a model. progress may be nil; it is called every other second. The job
// continues if ctx is cancelled.
func Run(ctx context.Context, c client.Client, job string, o Options, progress func(index.Progress)) (last index.Progress, err error) {
	if o, err = o.resolve(); err != nil {
		return last, err
	}
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: ID(job, o), TaskQueue: o.Queue, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, workflowName, o)
	if err != nil {
		return last, fmt.Errorf("temporal: starting the job: %w", err)
	}
	watched, end := context.WithCancel(ctx)
	defer end()
	if progress != nil {
		go watch(watched, watching, func() {
			if p, err := Progress(watched, c, job, o); err == nil {
				progress(p)
			}
		})
	}
	if err := run.Get(ctx, &last); err != nil {
		return last, fmt.Errorf("temporal: waiting for the job: %w", err)
	}
	return last, nil
}

// Shares are retried without limit: a job that waited days for its services is worth more than one that failed.
var retries = temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}

// longest is the time limit of a share; a dead worker is noticed earlier, by its missing heartbeat.
const longest = 7 * 24 * time.Hour

// build is the workflow: it runs rounds of shares until no reply is missing.
func build(ctx workflow.Context, o Options) (index.Progress, error) {
	p := index.Progress{Shares: o.Shares}
	if err := workflow.SetQueryHandler(ctx, queryName, func() (index.Progress, error) { return p, nil }); err != nil {
		return p, err
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: o.Queue, StartToCloseTimeout: longest, HeartbeatTimeout: o.Heartbeat, RetryPolicy: &retries,
	})
	for next := p.Next(); next != nil; next = p.Next() {
		selector := workflow.NewSelector(ctx)
		var failed error
		for _, share := range next {
			selector.AddFuture(workflow.ExecuteActivity(ctx, activityName, share), func(f workflow.Future) {
				var done index.Done
				if err := f.Get(ctx, &done); err != nil {
					failed = cmp.Or(failed, err)
				} else {
					p.Add(done)
				}
			})
		}
		for range next {
			if selector.Select(ctx); failed != nil {
				return p, failed
			}
		}
	}
	return p, nil
}
