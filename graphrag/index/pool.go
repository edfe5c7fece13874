// SPDX-License-Identifier: Apache-2.0

package index

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
)

// Limit is the limit of an endpoint.
type Limit struct {
	// Concurrent is the number of concurrent tasks; 0 means 8, and GOMAXPROCS for tasks
	// without an endpoint.
	Concurrent int
	// PerSecond is the number of tasks started per second; 0 is no limit. A task makes one
	// or more calls for each chunk of its batch.
	PerSecond float64
}

// RunOptions of [Run]. The zero value is good.
type RunOptions struct {
	// Limits by endpoint.
	Limits map[string]Limit
	// Pause is the pause before the second of five attempts at a task with retryable errors,
	// doubled each time; 0 means a second.
	Pause time.Duration
	// Progress is called after each task. Calls do not overlap.
	Progress func(Progress)
}

const (
	defaultConcurrent = 8
	tries             = 5 // at a task
)

// Run runs all tasks of a job in this process. The first error that is not retryable ends it;
// results are stored, and running the same job again resumes there.
func Run(ctx context.Context, w Doer, job Job, o RunOptions) (Progress, error) {
	p := &pool{w: w, job: job, o: o, progress: NewProgress(job.Plan), gates: make(map[string]*gate)}
	for _, s := range job.Plan {
		if p.gates[s.Endpoint] == nil {
			p.gates[s.Endpoint] = newGate(s.Endpoint, o.Limits[s.Endpoint])
		}
	}
	p.o.Pause = cmp.Or(o.Pause, time.Second)
	err := p.run(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.progress.clone(), err
}

// pool is one run.
type pool struct {
	w     Doer
	job   Job
	o     RunOptions
	gates map[string]*gate

	mu       sync.Mutex
	progress Progress
}

func (p *pool) run(ctx context.Context) error {
	feed := [][]Batch{p.job.Pages}
	for i := 0; i < len(p.job.Plan); {
		if p.job.Plan[i].Barrier {
			done, err := p.task(ctx, i, p.job.Root)
			if err != nil {
				return err
			}
			feed, i = done.Next, i+1
			continue
		}
		end := p.job.Plan.Pipe(i)
		for _, round := range feed {
			g, gctx := errgroup.WithContext(ctx)
			p.flow(gctx, g, i, end, round)
			if err := g.Wait(); err != nil {
				return err
			}
		}
		feed, i = nil, end
	}
	return ctx.Err()
}

// flow runs batches through the stages up to end. The goroutines wait at the gates; they hold
// nothing but references.
func (p *pool) flow(ctx context.Context, g *errgroup.Group, stage, end int, batches []Batch) {
	if stage == end {
		return
	}
	p.mu.Lock()
	p.progress.Stages[stage].Tasks += len(batches)
	p.mu.Unlock()
	for _, b := range batches {
		g.Go(func() error {
			done, err := p.task(ctx, stage, b)
			for _, round := range done.Next {
				p.flow(ctx, g, stage+1, end, round)
			}
			return err
		})
	}
}

// task runs a task, with retries.
func (p *pool) task(ctx context.Context, stage int, b Batch) (done Done, err error) {
	s := p.job.Plan[stage]
	pause := p.o.Pause
	for try := 1; ; try++ {
		if err := p.gates[s.Endpoint].enter(ctx); err != nil {
			return Done{}, err
		}
		done, err = p.w.Do(ctx, Task{Stage: s.Name, Batch: b, Root: p.job.Root.Ref})
		p.gates[s.Endpoint].leave()
		again, after := Retry(err)
		if err == nil || !again || try == tries || ctx.Err() != nil {
			break
		}
		select {
		case <-time.After(max(pause, after)):
		case <-ctx.Done():
		}
		pause *= 2
	}
	if err != nil {
		return Done{}, fmt.Errorf("index: %s: %w", s.Name, err)
	}
	p.count(stage, done)
	return done, nil
}

func (p *pool) count(stage int, d Done) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.job.Plan[stage].Barrier {
		p.progress.Stages[stage].Tasks++
	}
	p.progress.Add(stage, d)
	if p.o.Progress != nil {
		p.o.Progress(p.progress.clone())
	}
}

func (p Progress) clone() Progress {
	p.Stages = append([]StageProgress(nil), p.Stages...)
	return p
}

// gate enforces the limit of an endpoint.
type gate struct {
	places chan struct{}
	rate   *rate.Limiter
}

func newGate(endpoint string, l Limit) *gate {
	n := defaultConcurrent
	if endpoint == "" {
		n = runtime.GOMAXPROCS(0)
	}
	g := &gate{places: make(chan struct{}, cmp.Or(l.Concurrent, n)), rate: rate.NewLimiter(rate.Inf, 1)}
	if l.PerSecond > 0 {
		g.rate = rate.NewLimiter(rate.Limit(l.PerSecond), 1)
	}
	return g
}

func (g *gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := g.rate.Wait(ctx); err != nil {
		g.leave()
		return err
	}
	return nil
}

func (g *gate) leave() { <-g.places }
