// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// ailing is a server whose replies can be spoilt: what a person would see in an
// outage of the model's mind.
type ailing struct {
	spoil func(req llm.Request, judging bool) (llm.Reply, bool)
	calls atomic.Int64
}

func (a *ailing) start(t *testing.T) {
	grader := judgetest.Grader{
		Fact:       func(_, _ string) bool { return true },
		Statements: func(string) []string { return []string{"One thing."} },
		Same:       func(_, _ string) bool { return false },
	}
	serve(t, func(req llm.Request) llm.Reply {
		a.calls.Add(1)
		graded, judging := grader.Reply(req)
		ready := strings.HasSuffix(req.Messages[len(req.Messages)-1].Text, "the word ready.")
		if a.spoil != nil && !ready {
			if reply, ok := a.spoil(req, judging); ok {
				return reply
			}
		}
		if judging {
			return llm.Reply{Text: graded}
		}
		return baselinestest.Obedient(req)
	})
}

// A run whose model failed says so, by its exit status and in every report; once
// the model is well the same folder comes to the report of a healthy run.
func TestRunsHeal(t *testing.T) {
	spoilt := func(text, finish string, judge bool) func(llm.Request, bool) (llm.Reply, bool) {
		return func(req llm.Request, judging bool) (llm.Reply, bool) {
			indexes := strings.Contains(messages(req), `{"named_entities": [`) || strings.Contains(messages(req), `{"triples": [`)
			return llm.Reply{Text: text, Finish: finish}, judging == judge && (judge || indexes)
		}
	}
	for _, tt := range []struct {
		name  string
		spoil func(llm.Request, bool) (llm.Reply, bool)
		says  string
		retry bool // it takes -retry
	}{
		{"extraction is refused", spoilt("I am sorry, I cannot do that.", "", false), "hipporag2 is not compared", true},
		{"extraction is cut", spoilt(`{"named_entities": ["`, llm.FinishLength, false), "hipporag2 is not compared", true},
		{"judging is cut", spoilt(`{"verdicts": [`, llm.FinishLength, true), "is not compared", true},
		{"judging is nonsense", spoilt(`No verdict here.`, "", true), "is not compared", true},
		{"verdicts of something else", spoilt(`{"a": 1}`, "", true), "is not compared", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &ailing{}
			a.start(t)
			args := func(dir string) []string {
				return []string{"-out", dir, "-domains", "seafaring", "-limit", "1", "-systems", "bm25,hipporag2", "-model", "m", "-no-timings"}
			}
			well, ill := t.TempDir(), t.TempDir()
			if _, _, err := bench(t, bare, args(well)...); err != nil {
				t.Fatal(err)
			}
			a.spoil = tt.spoil
			stdout, _, err := bench(t, bare, args(ill)...)
			if setup.Status(io.Discard, "wildgraphbench", err) != setup.ExitIncomplete || !strings.Contains(err.Error(), tt.says) || !strings.Contains(stdout, "is not compared: ") {
				t.Errorf("%v\n%s", err, stdout)
			}
			for name, text := range folder(t, ill) {
				if strings.HasPrefix(name, "/report.") && name != "/report.csv" && !strings.Contains(text, "not_compared") && !strings.Contains(text, "not compared") {
					t.Errorf("%s does not say that a system is not compared", name)
				}
			}
			a.spoil = nil
			_, _, err = bench(t, bare, args(ill)...)
			check.True(t, err == nil != tt.retry, "at the next start: %v", err)
			if tt.retry {
				_, _, err = bench(t, bare, append(args(ill), "-retry")...)
				check.True(t, err == nil, "with -retry: %v", err)
			}
			check.Equal(t, folder(t, ill), folder(t, well), "(-healthy +healed)")
			a.calls.Store(0)
			_, _, err = bench(t, bare, append(args(ill), "-retry")...)
			check.True(t, err == nil && a.calls.Load() <= 0, "nothing is left to ask, %d calls: %v", a.calls.Load(), err)
		})
	}
}

// Whatever graph a model was to build, a model that builds none is told from a system
// that found little.
func TestNoGraphIsNoSystem(t *testing.T) {
	const graphs = "fastgraphrag,msgraphrag-local,msgraphrag-global,lightrag,lightrag-mix,hipporag,hipporag2"
	for _, text := range []string{"I am sorry, I cannot do that.", `{"verdict": "none"`, "%%%"} {
		a := &ailing{}
		a.start(t)
		a.spoil = func(_ llm.Request, judging bool) (llm.Reply, bool) { return llm.Reply{Text: text}, !judging }
		dir := t.TempDir()
		_, _, err := bench(t, bare, "-out", dir, "-domains", "seafaring", "-limit", "1", "-systems", "bm25,"+graphs, "-model", "m", "-no-timings")
		check.Equal(t, setup.Status(io.Discard, "wildgraphbench", err), setup.ExitIncomplete, "%q: %v", text, err)
		for _, s := range readReport(t, dir).Systems {
			check.True(t, (len(s.NotCompared) > 0) == strings.Contains(graphs, s.System),
				"%q: %s: %q, %+v", text, s.System, s.NotCompared, s.Stages)
		}
	}
}

// trouble lets a server fail by chance. The same seed gives the same faults to the
// same requests, in whatever order they come: how a request fares depends on what it
// asks and how often it was asked before.
type trouble struct {
	seed  uint64
	share float64  // how many of the requests fail, from 0 to 1
	kinds []string // the ways to fail, of [troubles]; nil is all
}

// The ways to fail. Those of vectors befall embeddings, and those of replies chats.
const (
	rateLimit      = "429"
	serverError    = "500"
	hang           = "hang" // for a while, billed, then the connection drops
	dropped        = "drop" // the connection, billed
	emptyReply     = "empty reply"
	cutReply       = "cut reply"
	refusal        = "refusal"
	garbage        = "garbage"
	echo           = "echo" // of the prompt
	wrongDimension = "wrong dimension"
	newDimension   = "another dimension each time"
	zeroVector     = "zero vector"
	nullVector     = "null vector"
	strangeUsage   = "strange usage"
	noUsage        = "no usage"
	keyInHeader    = "key in a header" // a broken one, billed
	keyInReply     = "key in the reply"
)

// troubles are all ways to fail.
var troubles = []string{rateLimit, serverError, hang, dropped, emptyReply, cutReply, refusal, garbage, echo,
	wrongDimension, newDimension, zeroVector, nullVector, strangeUsage, noUsage, keyInHeader, keyInReply}

// strange are figures of usage that servers were seen to send, and worse.
var strange = []string{`"12"`, `12.0`, `-3`, `4611686018427387904`, `1e300`, `null`, `"many"`, `[]`, `{}`}

// fault draws what befalls a request that comes for the n-th time.
func (c trouble) fault(r llmtest.Received, n int) llmtest.Fault {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%d\n%s", r.Path, n, r.Body)
	rng := rand.New(rand.NewPCG(c.seed, h.Sum64()))
	kinds := c.kinds
	if kinds == nil {
		kinds = troubles
	}
	if rng.Float64() >= c.share {
		return llmtest.Fault{}
	}
	say := func(text, finish string) llmtest.Fault {
		return llmtest.Fault{Answer: func(llm.Request) llm.Reply { return llm.Reply{Text: text, Finish: finish} }}
	}
	vector := func(f func(v []float32) any) llmtest.Fault { return llmtest.Fault{Vector: f} }
	_, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch kinds[rng.IntN(len(kinds))] {
	case rateLimit:
		return llmtest.Fault{Status: 429}
	case serverError:
		return llmtest.Fault{Status: 500}
	case hang:
		return llmtest.Fault{Delay: 50 * time.Millisecond, Lost: true}
	case dropped:
		return llmtest.Fault{Lost: true}
	case emptyReply:
		return say("", "")
	case cutReply:
		return say("half of", llm.FinishLength)
	case refusal:
		return say("I cannot help with that.", "refusal")
	case garbage:
		return say(`{"a": [1, "b"}}} {{ ,,`, "")
	case echo:
		return llmtest.Fault{Answer: func(req llm.Request) llm.Reply { return llm.Reply{Text: messages(req)} }}
	case wrongDimension:
		return vector(func(v []float32) any { return v[:len(v)-1] })
	case newDimension:
		keep := 1 + rng.IntN(7)
		return vector(func(v []float32) any { return v[:max(1, len(v)-keep)] })
	case zeroVector:
		return vector(func(v []float32) any { return make([]float32, len(v)) })
	case nullVector:
		return vector(func(v []float32) any { return make([]*float32, len(v)) })
	case strangeUsage:
		figure := strange[rng.IntN(len(strange))]
		return llmtest.Fault{Usage: json.RawMessage(figure)}
	case noUsage:
		return llmtest.Fault{NoUsage: true}
	case keyInHeader:
		return llmtest.Fault{Lost: true, Raw: "HTTP/1.1 200 OK\r\nAuthorization Bearer " + key + "\r\n\r\n"}
	case keyInReply:
		return llmtest.Fault{Answer: func(req llm.Request) llm.Reply { return llm.Reply{Text: key + " " + messages(req)} }}
	}
	return llmtest.Fault{}
}
