// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

const chaosKey = "sk-chaos-0123456789abcdef"

// lasting are the troubles that leave something behind which looks whole: replies
// whose text says something else, and figures that nobody gets to know. Money is
// exact with them too, but the report is of what was replied.
var lasting = []string{"echo", "garbage", "refusal", "key in the reply", "strange usage", "no usage"}

// chaos is the server of a chaos run, and what it knows of its client.
type chaos struct {
	*llmtest.Server

	mu    sync.Mutex
	acked map[string]bool
	again []string // asked for though the reply was on the client's disk
	left  int      // requests until the kill
	kill  func()
}

func newChaos(t *testing.T) *chaos {
	c := &chaos{}
	grader := judgetest.Grader{
		Fact:       func(reference, answer string) bool { return len(reference)%2 == 0 },
		Statements: func(string) []string { return []string{"One thing."} },
		Same:       func(_, predicted string) bool { return predicted == "One thing." },
	}
	c.Server = llmtest.NewServer(llmtest.ServerOptions{
		Key: chaosKey,
		Handler: func(req llm.Request) llm.Reply {
			c.serve("chat " + digestOf(messages(req)))
			if text, ok := grader.Reply(req); ok {
				return llm.Reply{Text: text}
			}
			return baselinestest.Obedient(req)
		},
		Embed: func(text string) []float32 {
			v := vectorOf(text)
			c.serve(vectorKey(v))
			return v
		},
	})
	t.Cleanup(c.Close)
	return c
}

func (c *chaos) serve(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.acked[key] {
		c.again = append(c.again, key)
	}
	if c.left--; c.left == 0 && c.kill != nil {
		go c.kill()
	}
}

// start runs the program to its end, or to the request at which it is killed.
func (c *chaos) start(t *testing.T, dir string, killAt int, more ...string) (out []byte, killed bool) {
	t.Helper()
	cmd := child(append([]string{"-no-timings", "-systems", "naiverag,hipporag2", "-domains", "seafaring", "-limit", "1",
		"-model", "m", "-embed-model", "e", "-out", dir, "-cache", filepath.Join(dir, cacheName)}, more...)...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+c.OpenAIURL(), "OPENAI_API_KEY="+chaosKey)
	var once sync.Once
	c.mu.Lock()
	c.left, c.kill = killAt, func() { once.Do(func() { _ = cmd.Process.Kill() }) }
	c.mu.Unlock()
	out, err := cmd.CombinedOutput()
	c.mu.Lock()
	c.left, c.kill = 0, nil
	c.mu.Unlock()
	check.True(t, !strings.Contains(string(out), chaosKey), "the key is shown:\n%s", out)
	exit, _ := err.(*exec.ExitError)
	return out, exit != nil && exit.ExitCode() < 0
}

// audit holds the client's books against the bill, and takes in what is on its disk.
func (c *chaos) audit(t *testing.T, dir string, before llm.Usage) (more int) {
	t.Helper()
	name := filepath.Join(dir, cacheName)
	if data, err := os.ReadFile(name); err != nil {
		return 0 // killed before the first call
	} else if strings.Contains(string(data), chaosKey) {
		t.Error("the key is kept")
	}
	client := check.Of(paid.Open(paid.Options{File: name, Run: dir})).OK(t)
	a, bill := client.Account(), c.Bill().Total
	check.OK(t, client.Close())
	owed := bill.Tokens() - before.Tokens()
	if owed > a.Total.Most.Tokens() || owed > a.Total.Usage.Tokens() && len(a.Unknown) == 0 && !a.Total.Usage.Estimated {
		t.Errorf("%d tokens are billed, the ledger has %d, %d at the most, in doubt %d calls", owed, a.Total.Usage.Tokens(), a.Total.Most.Tokens(), len(a.Unknown))
	}
	j := check.Of(journal.Open(name, journal.Header{Schema: paid.Schema}, journal.Options{})).OK(t)
	defer j.Close()
	now := onDisk(t, j)
	for key := range c.acked {
		check.True(t, now[key], "a reply that was on disk is lost: %q", key)
	}
	c.acked = now
	return a.Total.Unknown
}

// TestChaos runs the whole program against a server that fails by chance, kills it
// now and then, and holds its books against the bill: a token that was billed is in
// the ledger, or one of the calls listed as in doubt may have cost it, and nothing
// that came whole is asked for again. When the server is well, the program ends, with -retry, with
// the report of a run without any trouble. WILDGRAPH_CHAOS sets the number of seeds,
// each with every trouble alone and all together.
func TestChaos(t *testing.T) {
	check.Long(t, "WILDGRAPH_CHAOS")
	seeds, all := 1, false
	if v := os.Getenv("WILDGRAPH_CHAOS"); v != "" {
		n := check.Of(strconv.Atoi(v)).OK(t, "WILDGRAPH_CHAOS")
		seeds, all = n, true
	}
	scenarios := map[string][]string{"all": nil, "all that pass": slices.DeleteFunc(slices.Clone(troubles), func(k string) bool { return slices.Contains(lasting, k) })}
	for _, k := range troubles {
		if all {
			scenarios[k] = []string{k}
		}
	}
	for _, k := range lasting {
		check.Must(t, slices.Contains(troubles, k), "there is no trouble %q", k)
	}
	c := newChaos(t)
	whole := filepath.Join(t.TempDir(), "whole")
	out, _ := c.start(t, whole, 0)
	check.Must(t, len(out) != 0, "the program says nothing")
	want := folder(t, whole)
	for seed := range seeds {
		for name, kinds := range scenarios {
			t.Run(name+" "+strconv.Itoa(seed), func(t *testing.T) {
				same := !slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(lasting, k) }) && kinds != nil
				c.ordeal(t, uint64(seed), kinds, want, same)
			})
		}
	}
}

// ordeal is one run under trouble, with kills, and its end in peace.
func (c *chaos) ordeal(t *testing.T, seed uint64, kinds []string, want map[string]string, same bool) {
	dir := filepath.Join(t.TempDir(), "run")
	before, kills, starts := c.Bill().Total, 0, 4
	random := rand.New(rand.NewPCG(seed, 7))
	c.acked, c.again = nil, nil
	c.Trouble(trouble{seed, 0.2, kinds}.fault)
	began := time.Now()
	for range starts {
		_, killed := c.start(t, dir, 1+random.IntN(60))
		if killed {
			kills++
		}
		c.audit(t, dir, before)
	}
	c.Trouble(nil)
	out, _ := c.start(t, dir, 0, "-retry") // a reply that was cut is kept, and asked for again by this alone
	doubt := c.audit(t, dir, before)
	n := len(c.again)
	check.True(t, n <= 0 || !same, "%d replies were asked for again though they were on disk", n)
	diff := cmp.Diff(want, folder(t, dir))
	check.True(t, !same || diff == "", "(-healthy +after trouble):\n%.3000s\n%s", diff, out)
	t.Logf("%d kills in %d starts, %d tokens billed, %d attempts in doubt, %v", kills, starts, c.Bill().Total.Tokens()-before.Tokens(), doubt, time.Since(began).Round(time.Second))
}

// TestKillPaid kills the program at requests to a paid server, while it indexes, answers and
// judges, and starts it again. No reply that was on disk is lost or paid for again, and the
// final files are those of a run in one go. WILDGRAPH_KILLS sets the number of kills.
func TestKillPaid(t *testing.T) {
	check.Long(t, "WILDGRAPH_KILLS")
	kills := 10
	if v := os.Getenv("WILDGRAPH_KILLS"); v != "" {
		n := check.Of(strconv.Atoi(v)).OK(t, "WILDGRAPH_KILLS")
		kills = n
	}
	c := newChaos(t)
	root := t.TempDir()
	whole := filepath.Join(root, "whole")
	out, _ := c.start(t, whole, 0)
	check.Must(t, len(out) != 0, "the program says nothing")
	want := folder(t, whole)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	runs := 0
	for done := 0; done < kills; runs++ {
		dir, began := filepath.Join(root, strconv.Itoa(runs)), c.Bill().Total
		c.acked = nil
		for killed := true; killed; {
			killAt := 1 + random.IntN(60)
			if done >= kills {
				killAt = 0
			}
			var out []byte
			if out, killed = c.start(t, dir, killAt); killed {
				done++
			} else if diff := cmp.Diff(want, folder(t, dir)); diff != "" {
				t.Fatalf("run %d, after %d kills (-whole +killed):\n%.2000s\n%s", runs, done, diff, out)
			}
			c.audit(t, dir, began)
		}
	}
	t.Logf("%d kills over %d runs: %d replies were paid for again though they were on disk", kills, runs, len(c.again))
	check.True(t, len(c.again) == 0, "%d replies were asked for again though they were on disk", len(c.again))
}

// onDisk are the replies and vectors that a client has kept; failed replies are
// asked for again and are not among the good ones.
func onDisk(t *testing.T, j *journal.Journal) map[string]bool {
	t.Helper()
	now := make(map[string]bool)
	for rec, err := range j.Records() {
		check.OK(t, err)
		var chat struct {
			Request struct {
				Messages []llm.Message `json:"messages"`
			} `json:"request"`
		}
		const failed = 2 // the kind of record
		if rec.Kind == failed {
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

// vectorKey is the vector as the cache writes it.
func vectorKey(v []float32) string { return "vector " + string(littleEndian(v)) }

func littleEndian(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
