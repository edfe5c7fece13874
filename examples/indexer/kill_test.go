// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// cluster is a Temporal server, a model server and worker processes, with an existing database.
// WILDGRAPH_TEMPORAL names the command of Temporal, WILDGRAPH_POSTGRES the database.
type cluster struct {
	*testing.T
	temporal, store, program, db, address string
	models                                *service
	server                                *exec.Cmd
	workers                               map[string]*exec.Cmd // worker processes by their API keys
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

// serve starts the Temporal server with its file, and waits until it answers.
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

// args are the arguments of a job with a store of its own.
func (c *cluster) args(name string, more ...string) []string {
	return append([]string{"-temporal", c.address, "-store", c.store, "-job", name, "-queue", name, "-system", "msgraphrag-local", "-model", "scribe", "-embed-model", "hashes"}, more...)
}

// work starts a worker, which the model server identifies by its key.
func (c *cluster) work(args []string) (key string) {
	c.begun++
	key = fmt.Sprintf("worker-%d", c.begun)
	c.workers[key] = c.start([]string{"OPENAI_API_KEY=" + key, "XDG_CACHE_HOME=" + c.TempDir()}, c.program, args...)
	return key
}

// run runs the program to its end, and returns its output.
func (c *cluster) run(args ...string) (string, error) {
	cmd := exec.CommandContext(c.Context(), c.program, args...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+c.TempDir()) // so that no process finds the stored replies of another one
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, log.String())
	}
	return string(out), err
}

// drop deletes what an earlier run has left in the database.
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
// stored reply is requested again, calls that were paid for twice were running at a kill, and the system
// answers like one that a single process built.
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
		select {
		case err := <-ended:
			t.Fatalf("the job ended after %d kills: %v", n, err)
		default:
		}
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

// Compares four workers with one, with a model that takes a second to answer.
func TestSpeedUp(t *testing.T) {
	c := newCluster(t)
	docs := library(t, 320)
	c.models.delay.Store(int64(time.Second))
	var took [2]time.Duration
	var calls [2]int
	for i, workers := range []int{1, 4} {
		c.drop("msgraphrag-local", "msgraphrag-local-work")
		args := c.args(fmt.Sprintf("speed%d", workers), "-shares", "4", "-concurrency", "2")
		for range workers - 1 { // the process of the job is one of the workers
			c.work(args)
		}
		time.Sleep(3 * time.Second) // waits until the workers are connected
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
	if calls[0] != calls[1] { // both jobs began with empty stores
		t.Errorf("one worker asked %d times, four %d times", calls[0], calls[1])
	}
	check.True(t, ratio >= 3.5, "four workers are %.2f times faster than one, want 3.5", ratio)
}

// service is a paid model server that answers after a delay and bills every call that was sent, also calls
// whose caller has died meanwhile. It identifies callers by their keys.
type service struct {
	URL   string
	delay atomic.Int64
	model *llmtest.Server

	mu      sync.Mutex
	flights map[string]int // number of running calls, by caller
	most    int            // highest number of running calls at a time
}

func newService(t *testing.T) *service {
	s := &service{model: llmtest.NewServer(llmtest.ServerOptions{Handler: says, InMemory: true}), flights: make(map[string]int)}
	front := httptest.NewServer(s)
	s.URL = front.URL + "/v1"
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
		s.model.Close()
	})
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // a call that never arrived costs nothing
	}
	caller := r.Header.Get("Authorization")
	s.count(caller, 1)
	defer s.count(caller, -1)
	time.Sleep(time.Duration(s.delay.Load()))
	own, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, s.model.URL+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	reply, err := s.model.Transport().RoundTrip(own)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer reply.Body.Close()
	maps.Copy(w.Header(), reply.Header)
	w.WriteHeader(reply.StatusCode)
	_, _ = io.Copy(w, reply.Body)
}

func (s *service) count(caller string, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flights[caller] += by
	all := 0
	for _, n := range s.flights {
		all += n
	}
	s.most = max(s.most, all)
}

func (s *service) underway(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flights["Bearer "+key]
}

// paid returns how often each call was billed, by its prompt.
func (s *service) paid() map[string]int {
	n := make(map[string]int)
	for _, r := range s.model.Requests() {
		sum := sha256.Sum256(append([]byte(r.Path), r.Body...))
		n[hex.EncodeToString(sum[:])]++
	}
	return n
}

// says answers the prompts for records and for reports.
func says(req llm.Request) llm.Reply {
	last := req.Messages[len(req.Messages)-1].Text
	if req.JSON || len(req.Schema) > 0 {
		return llm.Reply{Text: fmt.Sprintf(`{"title":"Ships of %d letters","summary":"They sail.","rating":5,"rating_explanation":"many","findings":[{"summary":"They sail.","explanation":"So the logs say."}]}`, len(last))}
	}
	at := strings.LastIndex(last, "Captain")
	if at < 0 { // a call that only tests whether the server answers, or a gleaning
		return llm.Reply{Text: "<|COMPLETE|>"}
	}
	words := strings.Fields(last[at:])
	if len(words) < 8 {
		return llm.Reply{Text: "<|COMPLETE|>"}
	}
	return llm.Reply{Text: fmt.Sprintf(`("entity"<|>%[1]s<|>person<|>A captain.)##("entity"<|>%[2]s<|>ship<|>The ship of %[1]s.)##("entity"<|>%[3]s<|>place<|>A port.)##("relationship"<|>%[1]s<|>%[2]s<|>%[1]s sailed her.<|>5)##("relationship"<|>%[2]s<|>%[3]s<|>She lay there.<|>2)<|COMPLETE|>`, words[1], words[5], words[7])}
}

// library writes documents of one chunk each, whose names are connected.
func library(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		text := fmt.Sprintf("Captain Arne%d sailed the ship Fram%d from Oslo%d to the north.\n", i, i%211, i%17)
		check.OK(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("log%05d.txt", i)), []byte(text), 0o644))
	}
	return dir
}

func TestOpen(t *testing.T) {
	for place, want := range map[string]string{filepath.Join(t.TempDir(), "none"): "there is no store", "postgres://127.0.0.1:1/none": "127.0.0.1"} {
		s, err := open(t.Context(), place, true)
		if err == nil {
			s.Close()
		}
		check.True(t, err != nil && strings.Contains(err.Error(), want), "%s: %v, want %q", place, err, want)
	}
}

func TestLine(t *testing.T) {
	p := index.Progress{Round: 2, Shares: 8, Done: 3, Missing: 1200}
	got, want := line(p), "round 2: 3 of 8 shares, 1,200 replies missing before; 0 calls, 0 texts embedded"
	check.Equal(t, got, want)
}
