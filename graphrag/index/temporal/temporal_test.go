// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/llm"
)

// environment is a server in memory, whose clock runs ahead when nothing is done.
func environment(d index.Doer) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(30 * time.Second)
	env.RegisterWorkflowWithOptions(build, workflow.RegisterOptions{Name: workflowName})
	env.RegisterActivityWithOptions(tasks{d, defaultHeartbeat}.do, activity.RegisterOptions{Name: activityName})
	return env
}

// execute runs a job, through as many histories as it takes.
func execute(t *testing.T, d index.Doer, job index.Job, o Options, prepare func(history int, env *testsuite.TestWorkflowEnvironment)) (p index.Progress, histories int, err error) {
	t.Helper()
	o, err = o.resolve()
	if err != nil {
		t.Fatal(err)
	}
	for s := begin(job, o); ; histories++ {
		env := environment(d)
		if prepare != nil {
			prepare(histories, env)
		}
		env.ExecuteWorkflow(workflowName, s)
		var next *workflow.ContinueAsNewError
		if err := env.GetWorkflowError(); !errors.As(err, &next) {
			if err == nil {
				err = env.GetWorkflowResult(&p)
			}
			return p, histories, err
		}
		s = state{}
		if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &s); err != nil {
			t.Fatal(err)
		}
	}
}

// fan makes three tasks of each, in rounds after the barrier, and notes them.
type fan struct {
	mu   sync.Mutex
	saw  []string
	at   map[string]int
	most map[string]int
	fail func(t index.Task, nth int) error
	nth  map[string]int
}

func newFan() *fan {
	return &fan{at: map[string]int{}, most: map[string]int{}, nth: map[string]int{}}
}

func (f *fan) note(t index.Task, by int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at[t.Stage] += by
	f.most[t.Stage] = max(f.most[t.Stage], f.at[t.Stage])
	if by > 0 {
		f.nth[t.Stage+t.Batch.Ref]++
	}
	return f.nth[t.Stage+t.Batch.Ref]
}

func (f *fan) Do(_ context.Context, t index.Task) (index.Done, error) {
	nth := f.note(t, 1)
	time.Sleep(time.Millisecond)
	defer f.note(t, -1)
	if f.fail != nil {
		if err := f.fail(t, nth); err != nil {
			return index.Done{}, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saw = append(f.saw, t.Stage+t.Batch.Ref)
	done := index.Done{Items: 1, Usage: llm.Usage{Calls: 1}}
	switch t.Stage {
	case "cut", "levels":
		for i := range 3 {
			done.Next = append(done.Next, []index.Batch{{Ref: fmt.Sprintf("%s%d", t.Batch.Ref, i)}})
		}
	case "ask":
		done.Next = [][]index.Batch{{t.Batch}}
	}
	return done, nil
}

var fanPlan = index.Plan{{Name: "cut"}, {Name: "ask", Endpoint: index.Chat}, {Name: "write"}, {Name: "levels", Barrier: true}, {Name: "report", Endpoint: index.Chat}, {Name: "end", Barrier: true}}

func fanJob(pages int) index.Job {
	job := index.Job{Plan: fanPlan, Root: index.Batch{Ref: "-"}}
	for i := range pages {
		job.Pages = append(job.Pages, index.Batch{Ref: fmt.Sprintf("%02d", i)})
	}
	return job
}

func (f *fan) before(t *testing.T, a, b string) {
	t.Helper()
	last, first := -1, len(f.saw)
	for i, s := range f.saw {
		if strings.HasPrefix(s, a) {
			last = i
		}
		if strings.HasPrefix(s, b) {
			first = min(first, i)
		}
	}
	if last < 0 || first == len(f.saw) || last > first {
		t.Errorf("%s at %d, %s at %d of %q", a, last, b, first, f.saw)
	}
}

// Every task is done once, barriers and rounds hold, and so do limits.
func TestStages(t *testing.T) {
	f := newFan()
	p, _, err := execute(t, f, fanJob(4), Options{Limits: map[string]index.Limit{index.Chat: {Concurrent: 2}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Compact(slices.Sorted(slices.Values(f.saw))); len(got) != len(f.saw) || len(got) != 4+12+12+1+3+1 {
		t.Errorf("%d tasks, %d different", len(f.saw), len(got))
	}
	f.before(t, "write", "levels")
	f.before(t, "report-0", "report-1")
	f.before(t, "report-1", "report-2")
	f.before(t, "report", "end")
	if f.most["ask"] > 2 {
		t.Errorf("%d calls at a time", f.most["ask"])
	}
	if p.Stages[1].Tasks != 12 || p.Stages[1].Done != 12 || p.Stages[1].Usage.Calls != 12 || p.Stages[4].Done != 3 {
		t.Errorf("%+v", p)
	}
}

// Of a stage that waits for no service few tasks are begun at first: the model is asked
// before all is cut.
func TestBeginnings(t *testing.T) {
	f := newFan()
	f.fail = func(task index.Task, _ int) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if task.Stage == "cut" {
			done := 0
			for _, s := range f.saw {
				if strings.HasPrefix(s, "cut") {
					done++
				}
			}
			if f.at["cut"] > early+done {
				t.Errorf("%d tasks at a time when %d are done", f.at["cut"], done)
			}
		}
		return nil
	}
	if _, _, err := execute(t, f, fanJob(60), Options{}, nil); err != nil {
		t.Fatal(err)
	}
}

// A history that is full is followed by another, and nothing is done twice or forgotten.
func TestHistories(t *testing.T) {
	f := newFan()
	p, histories, err := execute(t, f, fanJob(9), Options{Window: 4}, func(history int, env *testsuite.TestWorkflowEnvironment) {
		done := 0
		env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) {
			if done++; done == 5 {
				env.SetContinueAsNewSuggested(true)
			}
		})
	})
	if err != nil || histories < 4 {
		t.Errorf("%d histories, %v", histories, err)
	}
	if got := slices.Compact(slices.Sorted(slices.Values(f.saw))); len(got) != len(f.saw) || len(got) != 9+27+27+1+3+1 {
		t.Errorf("%d tasks, %d different", len(f.saw), len(got))
	}
	for _, s := range p.Stages {
		if s.Done != s.Tasks || s.Items != s.Done {
			t.Errorf("%+v", s)
		}
	}
	f.before(t, "write", "levels")
}

// What may pass is tried again after the time that the service asked for; what will not
// ends the job, and says why.
func TestFailures(t *testing.T) {
	f := newFan()
	var began time.Time
	var waited time.Duration
	f.fail = func(task index.Task, nth int) error {
		if task.Stage == "ask" && nth == 1 {
			return fmt.Errorf("x: %w", &llm.Error{Kind: llm.ErrRateLimited, RetryAfter: 20 * time.Minute})
		}
		if task.Stage == "write" && nth < 8 {
			return fmt.Errorf("x: %w", store.ErrUnavailable)
		}
		return nil
	}
	_, _, err := execute(t, f, fanJob(1), Options{}, func(_ int, env *testsuite.TestWorkflowEnvironment) {
		began = env.Now()
		env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) { waited = env.Now().Sub(began) })
	})
	if err != nil || waited < 20*time.Minute || waited > 25*time.Minute {
		t.Errorf("the last began after %v, %v", waited, err)
	}
	f = newFan()
	f.fail = func(task index.Task, nth int) error {
		if task.Stage == "ask" {
			return &llm.Error{Kind: llm.ErrAuth}
		}
		return nil
	}
	if _, _, err := execute(t, f, fanJob(1), Options{}, nil); err == nil || !strings.Contains(err.Error(), "check the API key") || f.nth["ask000"] != 1 {
		t.Errorf("%v, asked %d times", err, f.nth["ask000"])
	}
}

// The progress of the whole job is one query, while it runs.
func TestQuery(t *testing.T) {
	f := newFan()
	var asked []int
	_, _, err := execute(t, f, fanJob(2), Options{}, func(_ int, env *testsuite.TestWorkflowEnvironment) {
		env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) {
			var p index.Progress
			value, err := env.QueryWorkflow(queryName)
			if err == nil {
				err = value.Get(&p)
			}
			if err != nil {
				t.Error(err)
				return
			}
			asked = append(asked, p.Stages[1].Usage.Calls)
		})
	})
	if err != nil || !slices.IsSorted(asked) || asked[len(asked)-1] != 6 {
		t.Errorf("%v, %v", asked, err)
	}
}

// A real index, by the workflow and by the pool, has the same bytes, progress and cost.
func TestSameIndex(t *testing.T) {
	build := func(run func(x *index.Index, job index.Job) (index.Progress, error)) (index.Progress, string) {
		s, err := disk.Open(t.TempDir(), disk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		x, err := index.Open(t.Context(), index.Options{Store: s, Name: "ships", Knowledge: index.Triples, Reports: true, Batch: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		job, err := x.Submit(t.Context(), func(yield func(graphrag.Document, error) bool) {
			for i, place := range []string{"Antarctica", "Greenland", "Spitsbergen", "Alaska", "Norway"} {
				if !yield(graphrag.Document{ID: fmt.Sprint(i), Text: "Roald Amundsen sailed the Fram to " + place + ". Otto Sverdrup commanded the Fram in " + place + "."}, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		p, err := run(x, job)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Open(t.Context(), "ships")
		if err != nil {
			t.Fatal(err)
		}
		g, err := c.Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		dir := t.TempDir()
		if err := store.Export(t.Context(), dir, c.Schema(), g); err != nil {
			t.Fatal(err)
		}
		return p, contents(t, dir)
	}
	local, want := build(func(x *index.Index, job index.Job) (index.Progress, error) {
		return index.Run(t.Context(), x, job, index.RunOptions{})
	})
	far, got := build(func(x *index.Index, job index.Job) (index.Progress, error) {
		p, _, err := execute(t, x, job, Options{}, nil)
		return p, err
	})
	if diff := cmp.Diff(local, far); diff != "" || want != got || !strings.Contains(got, "Amundsen") {
		t.Errorf("(-pool +workflow):\n%s\n%s", diff, cmp.Diff(want, got))
	}
}

// contents are the files of a folder, one after the other.
func contents(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(filepath.Base(name) + "\n" + string(data))
	}
	return b.String()
}

func TestOptions(t *testing.T) {
	_, err := Options{Slots: -1, Limits: map[string]index.Limit{"fax": {}}}.resolve()
	for _, want := range []string{"Slots", `"fax"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

// slow takes its time.
type slow time.Duration

func (s slow) Do(ctx context.Context, _ index.Task) (index.Done, error) {
	select {
	case <-time.After(time.Duration(s)):
	case <-ctx.Done():
	}
	return index.Done{}, ctx.Err()
}

// A task that waits for a model says that it is alive. (The SDK passes on as many beats as
// the server needs.)
func TestHeartbeats(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	beats := 0
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats++ })
	env.RegisterActivityWithOptions(tasks{slow(200 * time.Millisecond), 100 * time.Millisecond}.do, activity.RegisterOptions{Name: activityName})
	if _, err := env.ExecuteActivity(activityName, index.Task{}); err != nil || beats == 0 {
		t.Errorf("%d beats, %v", beats, err)
	}
}
