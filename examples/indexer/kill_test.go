// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/index/temporal"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
)

// cluster is a Temporal server, a model server and worker processes, at a database that is
// there. The first two are named by WILDGRAPH_TEMPORAL, the command of Temporal, and
// WILDGRAPH_POSTGRES.
type cluster struct {
	*testing.T
	temporal, store, program, db, address, prices string
	models                                        *service
	server                                        *exec.Cmd
	workers                                       map[string]*exec.Cmd // by their keys
	begun                                         int
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{T: t, temporal: os.Getenv("WILDGRAPH_TEMPORAL"), store: os.Getenv("WILDGRAPH_POSTGRES"), workers: make(map[string]*exec.Cmd)}
	if c.temporal == "" || c.store == "" {
		t.Skip("set WILDGRAPH_TEMPORAL and WILDGRAPH_POSTGRES, as .ci/temporal does")
	}
	dir := t.TempDir()
	c.program, c.db = filepath.Join(dir, "indexer"), filepath.Join(dir, "temporal.db")
	if out, err := exec.Command("go", "build", "-o", c.program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c.prices = filepath.Join(dir, "prices.json")
	const prices = `{"currency": "EUR", "models": [{"model": "scribe", "prompt": 0.25, "completion": 2, "as_of": "2026-01-01"}, {"model": "hashes", "embedded": 0.02, "as_of": "2026-01-01"}]}`
	if err := os.WriteFile(c.prices, []byte(prices), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.address = l.Addr().String()
	l.Close()
	c.models = newService(t)
	t.Setenv("OPENAI_BASE_URL", c.models.URL)
	t.Setenv("OPENAI_API_KEY", "submitter")
	c.serve()
	t.Cleanup(func() {
		for _, w := range c.workers {
			c.kill(w)
		}
		c.kill(c.server)
	})
	return c
}

func (c *cluster) start(env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	logs, err := os.OpenFile(filepath.Join(filepath.Dir(c.program), filepath.Base(name)+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.Fatal(err)
	}
	defer logs.Close()
	cmd.Stdout, cmd.Stderr = logs, logs
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	return cmd
}

func (c *cluster) kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// serve starts the Temporal server on its file, and waits until it answers.
func (c *cluster) serve() {
	c.Helper()
	_, port, _ := net.SplitHostPort(c.address)
	c.server = c.start(nil, c.temporal, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", port, "--db-filename", c.db, "--log-level", "error")
	var err error
	for range 120 {
		var conn client.Client
		if conn, err = client.Dial(client.Options{HostPort: c.address, Logger: log.NewStructuredLogger(cli.NewLogger(io.Discard))}); err == nil {
			conn.Close()
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	c.Fatalf("the Temporal server does not answer: %v", err)
}

func (c *cluster) args(name string, more ...string) []string {
	return append([]string{"-temporal", c.address, "-store", c.store, "-name", name, "-queue", name, "-model", "scribe", "-heartbeat", "30s", "-prices", c.prices}, more...)
}

// work starts a worker, which the model server knows by its key.
func (c *cluster) work(args []string) (key string) {
	c.begun++
	key = fmt.Sprintf("worker-%d", c.begun)
	c.workers[key] = c.start([]string{"OPENAI_API_KEY=" + key}, c.program, args...)
	return key
}

// doubtful are the calls of which nothing was kept.
func (c *cluster) doubtful(s *submitted) []index.Call {
	c.Helper()
	out, err := s.x.Doubtful(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	return out
}

// histories is how many the job took.
func (c *cluster) histories(s *submitted) int {
	c.Helper()
	found, err := s.c.ListWorkflow(c.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: fmt.Sprintf("WorkflowId = %q", temporal.ID(s.job, s.f.far))})
	if err != nil {
		c.Fatal(err)
	}
	return len(found.Executions)
}

// submitted is a job that this process has submitted and watches; the workers do it.
type submitted struct {
	f   flags
	x   *index.Index
	c   client.Client
	job index.Job
	end func()
}

func (c *cluster) submit(docs string, args []string) *submitted {
	c.Helper()
	ctx := c.Context()
	f, err := parse(append(args, "-docs", docs), io.Discard)
	if err == nil {
		err = f.parts(ctx, io.Discard)
	}
	if err != nil {
		c.Fatal(err)
	}
	s, err := postgres.Open(ctx, f.store, postgres.Options{})
	if err != nil {
		c.Fatal(err)
	}
	for _, name := range []string{f.o.Name, f.o.Name + "-work"} { // of a run before
		_ = s.Drop(ctx, name)
	}
	f.o.Store = s
	x, err := index.Open(ctx, f.o)
	if err != nil {
		c.Fatal(err)
	}
	conn, err := client.NewLazyClient(client.Options{HostPort: c.address, Logger: log.NewStructuredLogger(cli.NewLogger(io.Discard))})
	if err != nil {
		c.Fatal(err)
	}
	out := &submitted{f: f, x: x, c: conn, end: func() {
		conn.Close()
		if err := errors.Join(x.Close(), s.Close()); err != nil {
			c.Error(err)
		}
	}}
	if out.job, err = f.submit(ctx, x, io.Discard); err != nil {
		c.Fatal(err)
	}
	return out
}

// wait waits for the end of the job, whatever happens to the server.
func (s *submitted) wait(ctx context.Context) (index.Progress, error) {
	for {
		p, err := temporal.Run(ctx, s.c, s.job, s.f.far, nil)
		var failed *sdk.WorkflowExecutionError
		if err == nil || errors.As(err, &failed) || ctx.Err() != nil {
			return p, err
		}
		time.Sleep(time.Second)
	}
}

// Workers are killed at random twenty times, and the server twice, while two thousand
// chunks are indexed: no reply that was kept is asked for again, what was paid twice was
// under way at a kill and is listed, and the index is that of a local run, byte for byte.
func TestKills(t *testing.T) {
	const kills, workers, slots = 20, 3, 8
	c := newCluster(t)
	docs := library(t, 2000)
	args := c.args("kills", "-reports", "-embed-model", "hashes", "-dim", "32", "-batch", "4")
	job := c.submit(docs, args)
	defer job.end()
	c.models.delay.Store(int64(800 * time.Millisecond))
	for range workers {
		c.work(args)
	}
	type result struct {
		p   index.Progress
		err error
	}
	ended := make(chan result, 1)
	began := time.Now()
	go func() {
		p, err := job.wait(t.Context())
		ended <- result{p, err}
	}()

	rng := rand.New(rand.NewPCG(7, uint64(began.UnixNano())))
	killed, atServer := make(map[string]time.Time), 0 // when, by process; what was under way
	for n := 1; n <= kills; n++ {
		time.Sleep(time.Second + time.Duration(rng.IntN(3000))*time.Millisecond)
		keys := slices.Sorted(maps.Keys(c.workers))
		key := keys[rng.IntN(len(keys))]
		w := c.workers[key]
		atServer += c.models.underway(key)
		c.kill(w)
		delete(c.workers, key)
		killed[strconv.Itoa(w.Process.Pid)] = time.Now()
		c.work(args)
		if n == 7 || n == 14 {
			c.kill(c.server)
			c.serve()
		}
		if len(ended) > 0 {
			t.Fatalf("the job ended after %d kills: %+v", n, <-ended)
		}
	}
	if p, err := temporal.Progress(t.Context(), job.c, job.job, job.f.far); err == nil {
		t.Logf("after the last kill: %s", line(p))
	}
	last := <-ended
	if last.err != nil {
		t.Fatal(last.err)
	}
	t.Logf("%v, %d histories; %s", time.Since(began).Round(time.Second), c.histories(job), line(last.p))

	twice, total, once := 0, 0, c.models.paid()
	for _, n := range once {
		twice, total = twice+n-1, total+n
	}
	listed := c.doubtful(job)
	t.Logf("%d calls paid, %d of them twice, %d listed; at %d kills the model server knew of %d under way", total, twice, len(listed), kills, atServer)
	if twice > len(listed) {
		t.Errorf("%d calls were paid twice, %d are listed", twice, len(listed))
	}
	under := make(map[string]int) // way at the kill of a process
	for _, call := range listed {
		_, pid, _ := strings.Cut(call.Process, "/")
		if at, ok := killed[pid]; !ok || call.Begun.After(at) {
			t.Errorf("%+v is listed, and was not under way at a kill", call)
		}
		under[pid]++
	}
	for pid, n := range under {
		if n > 2*slots {
			t.Errorf("%d calls were under way in the worker %s of %d and %d", n, pid, slots, slots)
		}
	}

	far, near := t.TempDir(), t.TempDir()
	if err := export(t.Context(), job.f.o.Store, job.f.o.Name, far); err != nil {
		t.Fatal(err)
	}
	c.models.delay.Store(0)
	var here, there bytes.Buffer
	if err := job.f.report(t.Context(), job.x, last.p, &there); err != nil {
		t.Fatal(err)
	}
	local := []string{"-docs", docs, "-prices", c.prices, "-store", t.TempDir(), "-name", "kills", "-model", "scribe", "-reports", "-embed-model", "hashes", "-dim", "32", "-batch", "4", "-export", near}
	if err := run(t.Context(), local, &here, io.Discard); err != nil {
		t.Fatal(err)
	}
	if counts, _, _ := strings.Cut(there.String(), "may have been"); counts != here.String() || strings.Contains(counts, "unknown") {
		t.Errorf("counts and cost:\n%s\nof a local run:\n%s", counts, here.String())
	}
	t.Logf("counts and cost:\n%s", here.String())
	want, got := contents(t, near), contents(t, far)
	for name := range want {
		if want[name] != got[name] {
			t.Errorf("%s differs from that of a local run", name)
		}
	}
	t.Logf("%d files equal those of a local run, %d bytes of chunks", len(want), len(want["chunks.records.jsonl"]))
	for key, n := range c.models.paid() {
		if n-once[key] != 1 {
			t.Errorf("a request was paid %d times by the workers and %d times by the local run", once[key], n-once[key])
		}
	}
}

// Four workers against one, at a model that answers in a second, two calls at a time each:
// with more, llm/transport would be looking for the slots of this server, which is on this
// machine, most of the time.
func TestSpeedUp(t *testing.T) {
	c := newCluster(t)
	docs := library(t, 160)
	c.models.delay.Store(int64(time.Second))
	var took [2]time.Duration
	for i, workers := range []int{1, 4} {
		args := c.args(fmt.Sprintf("speed%d", workers), "-batch", "4", "-slots", "2")
		job := c.submit(docs, args)
		for range workers {
			c.work(args)
		}
		time.Sleep(3 * time.Second) // they connect
		began := time.Now()
		if _, err := job.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		took[i] = time.Since(began)
		job.end()
		for key, w := range c.workers {
			c.kill(w)
			delete(c.workers, key)
		}
	}
	ratio := float64(took[0]) / float64(took[1])
	t.Logf("one worker %v, four %v: %.2f times faster", took[0].Round(time.Millisecond), took[1].Round(time.Millisecond), ratio)
	if ratio < 3.5 {
		t.Errorf("four workers are %.2f times faster than one, want 3.5", ratio)
	}
}

// Limits hold over all workers together: of calls at a time, and of tasks in a second.
func TestLimits(t *testing.T) {
	const concurrent, rate, tasks = 3, 4, 60
	c := newCluster(t)
	docs := library(t, tasks)
	c.models.delay.Store(int64(200 * time.Millisecond))
	for i, limit := range [][]string{{"-concurrency", fmt.Sprint(concurrent)}, {"-rate", fmt.Sprint(rate)}} {
		args := append(c.args(fmt.Sprintf("limits%d", i), "-batch", "1"), limit...)
		job := c.submit(docs, args)
		for range 3 {
			c.work(args)
		}
		began := time.Now()
		if _, err := job.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		job.end()
		for key, w := range c.workers {
			c.kill(w)
			delete(c.workers, key)
		}
		t.Logf("%s: %v, %d calls at a time", limit, took.Round(time.Millisecond), c.models.most)
		if i == 0 && c.models.most > concurrent {
			t.Errorf("%d calls at a time, want %d", c.models.most, concurrent)
		}
		// Half, for what the server lets through at the start.
		if least := tasks * time.Second / rate / 2; i == 1 && took < least {
			t.Errorf("%d tasks took %v, want %v at least", tasks, took, least)
		}
	}
}
