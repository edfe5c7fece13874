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
