// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/wildgraph/wildgraph/graphrag/index"
)

// Options of a job and of its workers, who have the same. The zero value is good.
type Options struct {
	// Queue begins the names of the task queues; "" means "wildgraph".
	Queue string
	// Limits by endpoint, over all workers together: how many tasks are under way, 0
	// for as many as there are workers for, and how many begin in a second.
	Limits map[string]index.Limit
	// Slots is how many tasks of an endpoint a worker does at a time; 0 means 8.
	Slots int
	// Heartbeat is after what silence a worker is taken for dead; 0 means 30 s.
	Heartbeat time.Duration
	// Window is how many tasks of a stage are under way or waiting before the stage in
	// front of it stops; 0 means 256. It is to be larger than Slots times workers.
	Window int
}

const (
	defaultQueue     = "wildgraph"
	defaultSlots     = 8
	defaultHeartbeat = 30 * time.Second
	defaultWindow    = 256

	mostPollers = 16

	workflowName = "wildgraph-index"
	activityName = "wildgraph-task"
	queryName    = "progress"
)

func (o Options) resolve() (Options, error) {
	var errs []error
	if o.Slots < 0 || o.Window < 0 || o.Heartbeat < 0 {
		errs = append(errs, fmt.Errorf("temporal: Slots, Window and Heartbeat are %d, %d and %v, want 0 or more", o.Slots, o.Window, o.Heartbeat))
	}
	for endpoint, l := range o.Limits {
		if endpoint != index.Chat && endpoint != index.Vectors || l.Concurrent < 0 || !(l.PerSecond >= 0) {
			errs = append(errs, fmt.Errorf("temporal: the limit of %q is %+v, want one of %q or %q, of 0 or more", endpoint, l, index.Chat, index.Vectors))
		}
	}
	o.Queue = cmp.Or(o.Queue, defaultQueue)
	o.Slots = cmp.Or(o.Slots, defaultSlots)
	o.Heartbeat = cmp.Or(o.Heartbeat, defaultHeartbeat)
	o.Window = cmp.Or(o.Window, defaultWindow)
	return o, errors.Join(errs...)
}

// queue is the task queue of an endpoint.
func (o Options) queue(endpoint string) string {
	if endpoint == "" {
		return o.Queue
	}
	return o.Queue + "-" + endpoint
}

// Worker does tasks for any job of its queue.
type Worker struct{ of []worker.Worker }

// NewWorker returns a worker that has d do the tasks.
func NewWorker(c client.Client, d index.Doer, o Options) (*Worker, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	w := &Worker{}
	for _, endpoint := range []string{"", index.Chat, index.Vectors} {
		settings := worker.Options{
			MaxConcurrentActivityExecutionSize: o.Slots,
			TaskQueueActivitiesPerSecond:       o.Limits[endpoint].PerSecond,
			MaxConcurrentActivityTaskPollers:   min(o.Slots, mostPollers), // places that come free at once are filled at once
			DisableWorkflowWorker:              endpoint != "",
		}
		if endpoint == "" {
			settings.MaxConcurrentActivityExecutionSize = runtime.GOMAXPROCS(0)
		}
		one := worker.New(c, o.queue(endpoint), settings)
		one.RegisterActivityWithOptions(tasks{d, o.Heartbeat}.do, activity.RegisterOptions{Name: activityName})
		if endpoint == "" {
			one.RegisterWorkflowWithOptions(build, workflow.RegisterOptions{Name: workflowName})
		}
		w.of = append(w.of, one)
	}
	return w, nil
}

// Run works until the context ends, and then lets tasks that are under way be done by
// others.
func (w *Worker) Run(ctx context.Context) error {
	for i, one := range w.of {
		if err := one.Start(); err != nil {
			for _, started := range w.of[:i] {
				started.Stop()
			}
			return fmt.Errorf("temporal: %w", err)
		}
	}
	<-ctx.Done()
	for _, one := range w.of {
		one.Stop()
	}
	return nil
}

// tasks are activities.
type tasks struct {
	index.Doer
	heartbeat time.Duration
}

// do does a task, and tells the server that it is still at it.
func (t tasks) do(ctx context.Context, task index.Task) (index.Done, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		tick := time.NewTicker(t.heartbeat / 4)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	done, err := t.Do(ctx, task)
	return done, failure(ctx, err)
}

// The types of failures, as the server shows them.
const (
	Throttled = "throttled"
	Passing   = "passing"
	Final     = "final"
)

// failure is an error in the words of the server: whether the task is to be tried again,
// and when.
func failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	again, after := index.Retry(err)
	switch {
	case after > 0:
		return temporal.NewApplicationErrorWithOptions(err.Error(), Throttled, temporal.ApplicationErrorOptions{NextRetryDelay: after})
	case again || ctx.Err() != nil: // of a worker that stops
		return temporal.NewApplicationError(err.Error(), Passing)
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), Final, nil)
}

// ID is the workflow of a job: one, however often it is started.
func ID(job index.Job, o Options) string {
	return cmp.Or(o.Queue, defaultQueue) + "-" + job.Root.Ref
}

// Start starts a job, or finds the one that runs.
func Start(ctx context.Context, c client.Client, job index.Job, o Options) (client.WorkflowRun, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: ID(job, o), TaskQueue: o.Queue, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, workflowName, begin(job, o))
	if err != nil {
		return nil, fmt.Errorf("temporal: start: %w", err)
	}
	return run, nil
}

// Progress is how far a job is. It needs a worker that is alive.
func Progress(ctx context.Context, c client.Client, job index.Job, o Options) (p index.Progress, err error) {
	value, err := c.QueryWorkflow(ctx, ID(job, o), "", queryName)
	if err == nil {
		err = value.Get(&p)
	}
	if err != nil {
		return p, fmt.Errorf("temporal: progress: %w", err)
	}
	return p, nil
}

// watching is how often [Run] asks for the progress.
const watching = 2 * time.Second

// Run starts a job, or finds the one that runs, and waits for its end. progress may be
// nil; it is called every other second. The end of ctx is not that of the job.
func Run(ctx context.Context, c client.Client, job index.Job, o Options, progress func(index.Progress)) (index.Progress, error) {
	run, err := Start(ctx, c, job, o)
	if err != nil {
		return index.Progress{}, err
	}
	watched, end := context.WithCancel(ctx)
	defer end()
	if progress != nil {
		go watch(watched, func() {
			if p, err := Progress(watched, c, job, o); err == nil {
				progress(p)
			}
		})
	}
	var last index.Progress
	if err := run.Get(ctx, &last); err != nil {
		return last, fmt.Errorf("temporal: %w", err)
	}
	return last, nil
}

func watch(ctx context.Context, look func()) {
	tick := time.NewTicker(watching)
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
