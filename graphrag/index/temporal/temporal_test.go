// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

// execute runs a job on a server in memory, whose clock skips idle time.
func execute(t *testing.T, d index.Doer, o Options, prepare func(*testsuite.TestWorkflowEnvironment)) (p index.Progress, err error) {
	t.Helper()
	o, err = o.resolve()
	check.OK(t, err)
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(30 * time.Second)
	env.RegisterWorkflowWithOptions(build, workflow.RegisterOptions{Name: workflowName})
	env.RegisterActivityWithOptions(shares{d, o.Heartbeat}.do, activity.RegisterOptions{Name: activityName})
	if prepare != nil {
		prepare(env)
	}
	env.ExecuteWorkflow(workflowName, o)
	if err := env.GetWorkflowError(); err != nil {
		return p, err
	}
	return p, env.GetWorkflowResult(&p)
}

// steps is a job of some steps, in each of which every share requests one reply.
type steps struct {
	mu     sync.Mutex
	n      int
	asked  map[[2]int]int // number of requests by round and share
	rounds map[int]int    // number of rounds of each share
	fail   func(share, nth int) error
	tries  map[int]int
}

func newSteps(n int) *steps {
	return &steps{n: n, asked: map[[2]int]int{}, rounds: map[int]int{}, tries: map[int]int{}}
}

func (s *steps) Do(_ context.Context, share index.Share) (index.Done, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries[share.I]++
	if s.fail != nil {
		if err := s.fail(share.I, s.tries[share.I]); err != nil {
			return index.Done{}, err
		}
	}
	s.rounds[share.I]++
	round := s.rounds[share.I]
	if round > s.n {
		return index.Done{}, nil
	}
	s.asked[[2]int{round, share.I}]++
	return index.Done{Missing: share.N - 1, Usage: llm.Usage{Calls: 1}}, nil
}

// Every share runs once in each round, and the job ends with the round in which nothing is missing.
func TestRounds(t *testing.T) {
	s := newSteps(3)
	p, err := execute(t, s, Options{Shares: 5}, nil)
	if err != nil || p.Round != 4 || p.Done != 5 || p.Usage.Calls != 15 || len(s.asked) != 15 {
		t.Errorf("%+v, %d asked, %v", p, len(s.asked), err)
	}
}

// lost is a job in which one share has all replies and none requests the missing one.
type lost struct{ all int }

func (l *lost) Do(_ context.Context, share index.Share) (index.Done, error) {
	if share.N > 1 {
		return index.Done{Missing: 1}, nil
	}
	l.all++
	return index.Done{Usage: llm.Usage{Calls: 1}}, nil
}

func TestNothingAsked(t *testing.T) {
	l := &lost{}
	p, err := execute(t, l, Options{Shares: 3}, nil)
	check.True(t, err == nil && l.all == 1 && p.Round == 2, "%+v, %d shares of all, %v", p, l.all, err)
}

// A passing error is retried after the time that the service named; any other error ends the job with the
// reason.
func TestFailures(t *testing.T) {
	s := newSteps(1)
	s.fail = func(share, nth int) error {
		switch {
		case share == 0 && nth == 1:
			return fmt.Errorf("x: %w", &llm.Error{Kind: llm.ErrRateLimited, RetryAfter: 20 * time.Minute})
		case share == 1 && nth < 8:
			return fmt.Errorf("x: %w", store.ErrUnavailable)
		}
		return nil
	}
	var began time.Time
	var waited time.Duration
	_, err := execute(t, s, Options{Shares: 2}, func(env *testsuite.TestWorkflowEnvironment) {
		began = env.Now()
		env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { waited = env.Now().Sub(began) })
	})
	check.True(t, err == nil && waited >= 20*time.Minute && waited <= 25*time.Minute, "the last began after %v, %v", waited, err)
	s = newSteps(1)
	s.fail = func(int, int) error { return &llm.Error{Kind: llm.ErrAuth} }
	_, err = execute(t, s, Options{Shares: 1}, nil)
	check.True(t, err != nil && strings.Contains(err.Error(), "check the API key") && s.tries[0] == 1, "%v, tried %d times", err, s.tries[0])
}

// A query returns the progress of the whole job while it runs.
func TestQuery(t *testing.T) {
	last := 0
	_, err := execute(t, newSteps(2), Options{Shares: 3}, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) {
			var p index.Progress
			value, err := env.QueryWorkflow(queryName)
			if err == nil {
				err = value.Get(&p)
			}
			check.True(t, err == nil && p.Usage.Calls >= last, "%+v after %d calls, %v", p, last, err)
			last = p.Usage.Calls
		})
	})
	check.True(t, err == nil && last == 6, "%d calls, %v", last, err)
}

func TestOptions(t *testing.T) {
	_, err := (Options{Slots: -1}).resolve()
	check.True(t, err != nil && strings.Contains(err.Error(), "Slots"), "%v", err)
}

// slow takes some time for a share.
type slow time.Duration

func (s slow) Do(ctx context.Context, _ index.Share) (index.Done, error) {
	select {
	case <-time.After(time.Duration(s)):
	case <-ctx.Done():
	}
	return index.Done{}, ctx.Err()
}

// A share that waits for a model sends heartbeats. (The SDK passes on only as many as the server needs.)
func TestHeartbeats(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	beats := 0
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats++ })
	env.RegisterActivityWithOptions(shares{slow(200 * time.Millisecond), 100 * time.Millisecond}.do, activity.RegisterOptions{Name: activityName})
	_, err := env.ExecuteActivity(activityName, index.Share{N: 1})
	check.True(t, err == nil && beats != 0, "%d beats, %v", beats, err)
}
