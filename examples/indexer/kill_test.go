// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
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
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/internal/check"
)

// cluster is a Temporal server, a model server and worker processes, at a database that is
// there. The first two are named by WILDGRAPH_TEMPORAL, the command of Temporal, and
// WILDGRAPH_POSTGRES.
type cluster struct {
	*testing.T
	temporal, store, program, db, address string
	models                                *service
	server                                *exec.Cmd
	workers                               map[string]*exec.Cmd // by their keys
	begun                                 int
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
	l := check.Of(net.Listen("tcp", "127.0.0.1:0")).OK(t)
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
	check.OK(c, err)
	defer logs.Close()
	cmd.Stdout, cmd.Stderr = logs, logs
	check.OK(c, cmd.Start())
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

// args are those of a job over a store of its own.
func (c *cluster) args(name string, more ...string) []string {
	return append([]string{"-temporal", c.address, "-store", c.store, "-job", name, "-queue", name, "-system", "msgraphrag-local", "-model", "scribe", "-embed-model", "hashes"}, more...)
}

// work starts a worker, which the model server knows by its key.
func (c *cluster) work(args []string) (key string) {
	c.begun++
	key = fmt.Sprintf("worker-%d", c.begun)
	c.workers[key] = c.start([]string{"OPENAI_API_KEY=" + key, "XDG_CACHE_HOME=" + c.TempDir()}, c.program, args...)
	return key
}

// run runs the program to its end, and returns what it printed.
func (c *cluster) run(args ...string) (string, error) {
	cmd := exec.CommandContext(c.Context(), c.program, args...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+c.TempDir()) // no process finds the replies of another one
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, log.String())
	}
	return string(out), err
}

// drop removes what a run before left in the database.
func (c *cluster) drop(names ...string) {
	s, err := postgres.Open(c.Context(), c.store, postgres.Options{})
	check.OK(c, err)
	defer s.Close()
	for _, name := range names {
		err := s.Drop(c.Context(), name)
		check.Must(c, err == nil || errors.Is(err, store.ErrNotFound), "%v", err)
	}
}

const question = "Who sailed the ship Fram5?"

// Workers are killed at random twenty times, and the server twice, while a thousand passages are indexed: no
// reply that was stored is asked for again, what was paid twice was under way at a kill, and the system
// answers as one that was built by one process.
func TestKills(t *testing.T) {
	const kills, workers, atOnce = 20, 3, 8
	c := newCluster(t)
	c.drop("msgraphrag-local-work")
	docs := library(t, 1000)
	args := c.args("kills")
	c.models.delay.Store(int64(800 * time.Millisecond))
	for range workers {
		c.work(args)
	}
	ended := make(chan error, 1)
	began := time.Now()
	go func() {
		_, err := c.run(append(args, "-docs", docs, question)...)
		ended <- err
	}()
	rng := rand.New(rand.NewPCG(7, uint64(began.UnixNano())))
	atServer := 0
	for n := 1; n <= kills; n++ {
		time.Sleep(time.Second + time.Duration(rng.IntN(3000))*time.Millisecond)
		keys := slices.Sorted(maps.Keys(c.workers))
		key := keys[rng.IntN(len(keys))]
		atServer += c.models.underway(key)
		c.kill(c.workers[key])
		delete(c.workers, key)
		c.work(args)
		if n == 7 || n == 14 {
			c.kill(c.server)
			c.serve()
		}
		check.Must(t, len(ended) <= 0, "the job ended after %d kills: %v", n, <-ended)
	}
	check.OK(t, <-ended)
	twice, total, once := 0, 0, c.models.paid()
	for _, n := range once {
		twice, total = twice+n-1, total+n
	}
	t.Logf("%v: %d calls paid, %d of them twice; at %d kills the model server knew of %d under way", time.Since(began).Round(time.Second), total, twice, kills, atServer)
	check.True(t, twice <= kills*(atOnce+1) && twice <= atServer+kills, "%d calls were paid twice", twice)
	c.models.delay.Store(0)
	far, err := c.run("-store", c.store, "-system", "msgraphrag-local", "-model", "scribe", "-embed-model", "hashes", question)
	check.OK(t, err)
	near, err := c.run("-store", filepath.Join(t.TempDir(), "near"), "-system", "msgraphrag-local", "-model", "scribe", "-embed-model", "hashes", "-docs", docs, question)
	check.True(t, err == nil && near == far && near != "", "by workers %q, by one process %q, %v", far, near, err)
}

// Four workers against one, at a model that answers in a second.
func TestSpeedUp(t *testing.T) {
	c := newCluster(t)
	docs := library(t, 160)
	c.models.delay.Store(int64(time.Second))
	var took [2]time.Duration
	var calls [2]int
	for i, workers := range []int{1, 4} {
		c.drop("msgraphrag-local", "msgraphrag-local-work")
		args := c.args(fmt.Sprintf("speed%d", workers), "-shares", "4", "-concurrency", "2")
		for range workers - 1 { // the job's own process is one
			c.work(args)
		}
		time.Sleep(3 * time.Second) // they connect
		began, paid := time.Now(), len(c.models.model.Requests())
		check.OK(t, check.Err(c.run(append(args, "-docs", docs, question)...)))
		took[i], calls[i] = time.Since(began), len(c.models.model.Requests())-paid
		for key, w := range c.workers {
			c.kill(w)
			delete(c.workers, key)
		}
	}
	ratio := float64(took[0]) / float64(took[1])
	t.Logf("one worker %v for %d calls, four %v for %d: %.2f times faster", took[0].Round(time.Millisecond), calls[0], took[1].Round(time.Millisecond), calls[1], ratio)
	if calls[0] != calls[1] { // both began with nothing
		t.Errorf("one worker asked %d times, four %d times", calls[0], calls[1])
	}
	check.True(t, ratio >= 3.5, "four workers are %.2f times faster than one, want 3.5", ratio)
}
