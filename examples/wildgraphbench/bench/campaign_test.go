// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// provider is a paid server that kills its client at a chosen request and
// knows which replies the client had acknowledged before.
type provider struct {
	server *llmtest.Server

	mu      sync.Mutex
	embeds  bool            // the kill is at an embedding request, else at a chat
	left    int             // requests until the kill; negative: no kill
	kill    func()          // called once
	acked   map[string]bool // replies on the client's disk
	served  map[string]int  // how often each request was answered
	paid    int             // requests for replies that were on disk: must stay 0
	repeats int             // requests answered before: in flight at a kill
}

// newProvider starts a server whose answers and vectors are functions of the
// request.
func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{left: -1, acked: map[string]bool{}, served: map[string]int{}}
	grader := judgetest.Grader{
		Fact:       func(reference, answer string) bool { return len(answer)%2 == 0 },
		Statements: func(answer string) []string { return []string{answer, "Something else."} },
		Same:       func(gold, predicted string) bool { return len(gold)%3 == 0 },
	}
	p.server = llmtest.NewServer(llmtest.ServerOptions{
		Handler: func(req llm.Request) llm.Reply {
			text := req.Messages[len(req.Messages)-1].Text
			if !strings.HasSuffix(text, "the word ready.") {
				p.serve("chat "+digestOf(messages(req)), false)
			}
			if reply, ok := grader.Reply(req); ok {
				return llm.Reply{Text: reply}
			}
			return llm.Reply{Text: "An answer of " + digestOf(text)[:8] + " [1]."}
		},
		Embed: func(text string) []float32 {
			v := vectorOf(text)
			if text != "ready" {
				p.serve(vectorKey(v), true)
			}
			return v
		},
	})
	t.Cleanup(p.server.Close)
	return p
}

// serve counts a request, and kills the client when its time has come.
func (p *provider) serve(key string, embedding bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.acked[key] {
		p.paid++
	}
	if p.served[key]++; p.served[key] > 1 {
		p.repeats++
	}
	if p.left >= 0 && embedding == p.embeds {
		if p.left--; p.left < 0 && p.kill != nil {
			go p.kill()
			p.kill = nil
		}
	}
}

// forget begins a new folder: nothing is on disk.
func (p *provider) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acked, p.served = map[string]bool{}, map[string]int{}
}

// acknowledge reads what the client has on disk, and returns how much of what
// was there before is gone.
func (p *provider) acknowledge(t *testing.T, dir string) (lost int) {
	t.Helper()
	name := filepath.Join(dir, cacheName)
	if _, err := os.Stat(name); err != nil {
		return 0 // killed before the first reply
	}
	j, err := journal.Open(name, journal.Header{Schema: paid.Schema}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	now := onDisk(t, j, false)
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.acked {
		if !now[key] {
			lost++
		}
	}
	p.acked = now
	return lost
}

// onDisk are the replies and vectors that a client has kept; failed replies are
// asked for again and are not among the good ones.
func onDisk(t *testing.T, j *journal.Journal, good bool) map[string]bool {
	t.Helper()
	now := make(map[string]bool)
	for rec, err := range j.Records() {
		if err != nil {
			t.Fatal(err)
		}
		var chat struct {
			Request struct {
				Messages []llm.Message `json:"messages"`
			} `json:"request"`
		}
		const failed = 2 // the kind of record
		if good && rec.Kind == failed {
			continue
		}
		if json.Unmarshal(rec.Payload, &chat) == nil {
			now["chat "+digestOf(messages(llm.Request{Messages: chat.Request.Messages}))] = true
		} else if len(rec.Payload) == 32+4*vectorLength {
			now["vector "+string(rec.Payload[32:])] = true
		}
	}
	return now
}

func messages(r llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Text + "\x00")
	}
	return b.String()
}

func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

const vectorLength = 8

// vectorOf is a vector that tells its text: small integers, exact in float32.
func vectorOf(text string) []float32 {
	sum := sha256.Sum256([]byte(text))
	v := make([]float32, vectorLength)
	for i := range v {
		v[i] = float32(int(sum[2*i])<<8 | int(sum[2*i+1]))
	}
	return v
}

// toEnd runs the program. A result that is not complete is an end as well: this
// grader matches without reading, fails canaries, and leaves summaries unscored.
func toEnd(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == lab.ExitIncomplete {
		err = nil
	}
	return out, err
}

// vectorKey is the vector as the cache writes it.
func vectorKey(v []float32) string { return "vector " + string(littleEndian(v)) }

// TestKillPaid kills the program at requests to a paid server, half of the
// time while it indexes and half while it answers and judges, and starts it
// again. No reply that was on disk is lost or paid for again, and the final
// files are those of a run in one go. WILDGRAPH_KILLS sets the number of
// kills.
func TestKillPaid(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program many times")
	}
	kills := 10
	if v := os.Getenv("WILDGRAPH_KILLS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("WILDGRAPH_KILLS: %v", err)
		}
		kills = n
	}
	const concurrency = 4
	p := newProvider(t)
	root := t.TempDir()
	start := func(dir string) *exec.Cmd {
		cmd := child("-no-timings", "-systems", "naiverag", "-domains", "seafaring", "-limit", "2",
			"-chunk-size", "150", "-chunk-overlap", "10", "-concurrency", strconv.Itoa(concurrency),
			"-model", "m", "-embed-model", "e", "-out", dir, "-cache", filepath.Join(dir, cacheName))
		cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+p.server.OpenAIURL(), "OPENAI_API_KEY=sk-test")
		return cmd
	}
	whole := filepath.Join(root, "whole")
	if out, err := toEnd(start(whole)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := folder(t, whole)
	total := len(p.served)

	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d; %d paid replies in a run", seed, total)
	p.forget()
	done, lost, runs, indexing := 0, 0, 0, 0
	dir := filepath.Join(root, "0")
	for done < kills {
		cmd := start(dir)
		var killed sync.Once
		p.mu.Lock()
		p.embeds, p.left = done%2 == 0, random.IntN(12)
		delay := time.Duration(random.IntN(15)) * time.Millisecond
		p.kill = func() {
			time.Sleep(delay)
			killed.Do(func() { _ = cmd.Process.Kill() })
		}
		embeds := p.embeds
		p.mu.Unlock()
		out, err := toEnd(cmd)
		p.mu.Lock()
		p.left, p.kill = -1, nil
		p.mu.Unlock()
		lost += p.acknowledge(t, dir)
		if err != nil {
			if !strings.Contains(err.Error(), "killed") {
				t.Fatalf("%v\n%s", err, out)
			}
			if done++; embeds {
				indexing++
			}
			continue
		}
		// The run came to its end before the kill: compare, begin another.
		if diff := cmp.Diff(want, folder(t, dir)); diff != "" {
			t.Fatalf("run %d, after %d kills (-whole +killed):\n%.2000s", runs, done, diff)
		}
		runs++
		_ = os.RemoveAll(dir)
		dir = filepath.Join(root, strconv.Itoa(runs))
		p.forget()
	}
	if out, err := toEnd(start(dir)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if diff := cmp.Diff(want, folder(t, dir)); diff != "" {
		t.Errorf("the last run (-whole +killed):\n%.2000s", diff)
	}
	t.Logf("%d kills (%d while indexing) over %d runs: %d acknowledged replies lost, %d paid again, %d requests in flight repeated",
		done, indexing, runs+1, lost, p.paid, p.repeats)
	if lost > 0 || p.paid > 0 {
		t.Errorf("%d acknowledged replies lost, %d paid again", lost, p.paid)
	}
	// What is under way at a kill may be asked again: a batch of embeddings or
	// one call per question.
	if bound := done * 64 * concurrency; p.repeats > bound {
		t.Errorf("%d requests repeated, more than were in flight (%d)", p.repeats, bound)
	}
}

func littleEndian(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
