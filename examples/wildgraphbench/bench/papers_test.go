// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// An option can name another model to read triples for GeAR-s than the model that reflects, filters and
// answers; the dry run and the ledger show both.
func TestReaderOfGeAR(t *testing.T) {
	server := serve(t, nil)
	dir := t.TempDir()
	args := []string{"-out", dir, "-limit", "1", "-systems", "gear", "-model", "large", "-set", "gear.reader=small", "-no-timings"}
	plan, _, err := bench(t, bare, append(args, "-dry-run")...)
	check.Must(t, err == nil && strings.Contains(plan, "small") && strings.Contains(plan, "large") && len(server.Requests()) <= 0, "%s\n%v", plan, err)
	_, _, err = bench(t, bare, args...) // fails: the server's replies are unusable
	read, rest := make(map[string]int), make(map[string]int)
	for _, r := range server.Requests() {
		to := rest
		if bytes.Contains(r.Body, []byte("You read passages that a search found for a question")) {
			to = read
		}
		for _, name := range []string{"small", "large"} {
			if bytes.Contains(r.Body, []byte(`"model":"`+name+`"`)) {
				to[name]++
			}
		}
	}
	if len(read) != 1 || read["small"] < 2 || rest["large"] == 0 || rest["small"] > 1 { // one of them is the call that tests the server
		t.Errorf("%v read, %v the rest: %v", read, rest, err)
	}
	ledger, err := os.ReadFile(filepath.Join(dir, "ledger.json"))
	check.True(t, err == nil && bytes.Contains(ledger, []byte(`:small"`)) && bytes.Contains(ledger, []byte(`:large"`)), "%s, %v", ledger, err)
	_, _, err = bench(t, bare, "-out", t.TempDir(), "-systems", "gear", "-set", "gear.reader=small")
	check.Fails(t, err, "gear.reader=small: a model needs a server")
}

// serveGrader starts a server of a model that answers and judges.
func serveGrader(t *testing.T) {
	serve(t, func(req llm.Request) llm.Reply {
		if text, ok := setup.DryGrader.Reply(req); ok {
			return llm.Reply{Text: text}
		}
		return llm.Reply{Text: "An answer [1]."}
	})
}

// Over a domain of the paper a model judges by the paper's metric, with the paper's rows below ours, unless
// flags say otherwise; over other pages by the joint profile.
func TestFullEvaluation(t *testing.T) {
	serveGrader(t)
	released := t.TempDir()
	put(t, released, roads(98))
	for _, tt := range []struct {
		args      []string
		judge     string
		published bool
	}{
		{[]string{"-data", released}, "wildgraph/paper/", true},
		{[]string{"-data", released, "-judge-profile", "joint"}, "wildgraph/joint/", false},
		{[]string{"-data", "sample"}, "wildgraph/joint/", false},
	} {
		dir := t.TempDir()
		stdout, _, err := bench(t, bare, append(tt.args, "-out", dir, "-systems", "bm25", "-model", "m", "-no-timings", "-v")...)
		check.OK(t, err)
		name := readReport(t, dir).Config["judge"].(string)
		if !strings.HasPrefix(name, tt.judge) || strings.Contains(stdout, "↳ published") != tt.published {
			t.Errorf("%v: judged by %s, published rows %t:\n%s", tt.args, name, !tt.published, stdout)
		}
	}
}

// GeAR-s's published figures on LiveRAG's scales are a row below the rows that a model judged; without a model
// there is no such row.
func TestLiveRAGRows(t *testing.T) {
	serveGrader(t)
	row := regexp.MustCompile(`gear, published +│ +0\.876 +0\.529`)
	args := []string{"-data", "musique", "-limit", "1", "-systems", "bm25", "-judge-profile", "liverag", "-out", t.TempDir(), "-no-timings"}
	stdout, _, err := bench(t, bare, append(args, "-judge-model", "m")...)
	if err != nil || !regexp.MustCompile(`(?m)^bm25 +│ +-?\d\.\d{3} +-?\d\.\d{3}`).MatchString(stdout) || !row.MatchString(stdout) {
		t.Errorf("%v\n%s", err, stdout)
	}
	_, _, err = bench(t, bare, args...)
	check.Fails(t, err, "-judge-profile needs -judge-model")
}

// The schema that limited an index is in the report folder, from where -schema can read it; without a schema
// there is no file.
func TestSchemaOfAReport(t *testing.T) {
	dir := t.TempDir()
	stdout, _, err := bench(t, bare, "-out", dir, "-limit", "1", "-systems", "youtu,youtu-noschema", "-schema", "wildgraphbench", "-v")
	check.Must(t, err == nil && strings.Contains(stdout, "proposals were accepted: predictions/youtu.seafaring.schema.json"), "%s, %v", stdout, err)
	name := filepath.Join(dir, "predictions", "youtu.seafaring.schema.json")
	told, err := os.ReadFile(name)
	check.Must(t, err == nil && bytes.Contains(told, []byte(`"accepted": true`)), "%s, %v", told, err)
	s, err := extract.ReadSchema(bytes.NewReader(told))
	check.True(t, err == nil && len(s.EntityTypes) >= 10, "%+v, %v", s, err)
	_, err = os.Stat(filepath.Join(dir, "predictions", "youtu-noschema.seafaring.schema.json"))
	check.True(t, err != nil, "a system without a schema has a file of one")
	again := t.TempDir()
	_, _, err = bench(t, bare, "-out", again, "-limit", "1", "-systems", "youtu", "-schema", "wildgraphbench")
	check.OK(t, err)
	same, err := os.ReadFile(filepath.Join(again, "predictions", filepath.Base(name)))
	check.True(t, err == nil && bytes.Equal(told, same), "another schema: %v", err)
	_, _, err = bench(t, bare, "-out", t.TempDir(), "-systems", "youtu", "-schema", name, "-limit", "1")
	check.OK(t, err)

	stdout, _, err = bench(t, bare, "-out", t.TempDir(), "-limit", "1", "-systems", "youtu,youtu-noschema")
	check.True(t, err == nil && strings.Contains(stdout, "Not ranked: youtu-noschema (needs a model that indexes"), "%s, %v", stdout, err)
	_, _, err = bench(t, bare, "-systems", "youtu", "-schema", "musiqe")
	check.Fails(t, err, "there are 2wiki, anonyrag-chs")
}

// Each table and figure of the papers is printed by the flags that the documents give: they are run on the data
// that testdata/papers.tsv names, and the output matches its expressions.
func TestTablesOfThePapers(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "benchmark.md"))
	table, err2 := os.ReadFile("testdata/papers.tsv")
	check.OK(t, errors.Join(err, err2))
	_, section, _ := strings.Cut(string(doc), "\n## Tables and figures of the papers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	serve(t, func(r llm.Request) llm.Reply {
		if text, ok := setup.DryGrader.Reply(r); ok {
			return llm.Reply{Text: text}
		}
		if strings.Contains(r.Messages[0].Text, "You decide whether an answer to a question is correct.") {
			return llm.Reply{Text: "1"}
		}
		return baselinestest.Obedient(r)
	})
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	put(t, dir, map[string]string{"graph.tsv": "Fram\tbuilder\tColin Archer\n", "own.txt": "Answer."})
	_, _, err = bench(t, bare, "anonyrag", "-out", file("anonyrag"))
	check.OK(t, err)
	values := strings.NewReplacer("PATH", file("graph.tsv"), "FILE", file("own.txt"), "people", "seafaring", "JUDGE", "NAME", "OPEN", file("OPEN"), "REJECT", file("REJECT"))
	expected := make(map[string][]string)
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		expected[cells[0]] = cells[1:]
	}
	for _, m := range regexp.MustCompile("(?m)^\\|.*\\| `([^`]+)`").FindAllStringSubmatch(section, -1) {
		want, ok := expected[m[1]]
		if delete(expected, m[1]); !ok {
			t.Errorf("no line for %s", m[1])
			continue
		}
		t.Run(m[1], func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			data := strings.NewReplacer("DIR", dir).Replace(want[0])
			args := strings.Fields(values.Replace(m[1]))
			if args[0] != "compare" {
				args = append(append(args, "-out", out), strings.Fields(data)...)
			}
			stdout, stderr, err := bench(t, bare, args...)
			page, _ := os.ReadFile(filepath.Join(out, "report.html"))
			for _, expr := range want[1:] {
				check.True(t, err == nil && regexp.MustCompile(expr).MatchString(stdout+string(page)),
					"%v\nno %s in\n%s%s", err, expr, stdout, stderr)
			}
		})
	}
	check.True(t, len(expected) <= 0, "the documents do not name %q", slices.Sorted(maps.Keys(expected)))
}

// People can be given what a system read, and their answers become a row of the table. An incomplete sheet is
// refused with the missing answers, and counts with -partial.
func TestWorksheet(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-domains", "seafaring", "-systems", "bm25,hipporag2", "-out", filepath.Join(dir, "out"), "-no-timings"}
	if _, _, err := bench(t, bare, append(args, "-worksheet", filepath.Join(dir, "sheets"))...); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "sheets", "hipporag2.html"))
	if err != nil || strings.Count(string(page), "<textarea") != 12 || strings.Contains(string(page), "<script>alert") {
		t.Errorf("the page has %d questions, %v", strings.Count(string(page), "<textarea"), err)
	}
	data := check.Of(os.ReadFile(filepath.Join(dir, "sheets", "bm25.jsonl"))).OK(t)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 12 || !strings.Contains(lines[0], `"passages":[{"page":`) || !strings.Contains(lines[0], `"answer":""`) {
		t.Fatalf("%d lines, the first is %.300s", len(lines), lines[0])
	}
	for i := range 5 {
		lines[i] = strings.Replace(lines[i], `"answer":""`, `"answer":"Henry Winstanley."`, 1)
	}
	file := filepath.Join(dir, "human.jsonl")
	check.OK(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	_, _, err = bench(t, bare, append(args, "-score", "human="+file)...)
	check.Fails(t, err, "no line for 7 of 12 questions", "a sheet that is filled in half")
	out, _, err := bench(t, bare, append(args, "-score", "human="+file, "-partial", "-v")...)
	check.True(t, err == nil && strings.Contains(out, "human"), "%v\n%s", err, out)
}

// A graph given by its path: lines that are not triples are logged, files of another kind refused.
func TestGraphByPath(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"cut.tsv": "Pharos of Alexandria\tcommissioned by\tPtolemy I Soter\nPharos of", "g.rdf": "<rdf/>"} {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	args := []string{"-out", filepath.Join(dir, "out"), "-systems", "gear", "-domains", "seafaring", "-limit", "1", "-kg"}
	if _, stderr, err := bench(t, bare, append(args, filepath.Join(dir, "cut.tsv"))...); err != nil || !strings.Contains(stderr, "-kg: ignored 1 lines that are not triples, first: ") || !strings.Contains(stderr, "cut.tsv:2: the line has 1 fields between tabs, want 3") {
		t.Errorf("%v: %s", err, stderr)
	}
	if _, _, err := bench(t, bare, append(args, filepath.Join(dir, "g.rdf"))...); err == nil || !strings.Contains(err.Error(), "-kg: triples: read: "+filepath.Join(dir, "g.rdf")+": want a file whose name ends in .tsv, .jsonl or .nt") {
		t.Error(err)
	}
}

// ailing is a server whose replies can be spoiled, as in an outage that leaves a model answering nonsense.
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

// A run whose model failed says so by its exit status and in every report. When the model works again, the same
// folder gives the report of a healthy run.
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
		retry bool // whether -retry is needed
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

// For every system whose model is to build a graph, a model that builds none is distinguished from a system
// that finds little.
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

// trouble makes a server fail at random. The same seed gives the same faults to the same requests, in any
// order: a request's fault depends on its text and on how often it was sent before.
type trouble struct {
	seed  uint64
	share float64  // share of the requests that fail, from 0 to 1
	kinds []string // kinds of faults, of [troubles]; nil means all
}

// The kinds of faults. Faults of vectors occur in embeddings, faults of replies in chats.
const (
	rateLimit      = "429"
	serverError    = "500"
	hang           = "hang" // waits, bills the call, then drops the connection
	dropped        = "drop" // drops the connection and bills the call
	emptyReply     = "empty reply"
	cutReply       = "cut reply"
	refusal        = "refusal"
	garbage        = "garbage"
	echo           = "echo" // repeats the prompt as the reply
	wrongDimension = "wrong dimension"
	newDimension   = "another dimension each time"
	zeroVector     = "zero vector"
	nullVector     = "null vector"
	strangeUsage   = "strange usage"
	noUsage        = "no usage"
	keyInHeader    = "key in a header" // returns an invalid key in a header, and bills the call
	keyInReply     = "key in the reply"
)

// troubles are all kinds of faults.
var troubles = []string{rateLimit, serverError, hang, dropped, emptyReply, cutReply, refusal, garbage, echo,
	wrongDimension, newDimension, zeroVector, nullVector, strangeUsage, noUsage, keyInHeader, keyInReply}

// strange are token counts that servers were seen to send, and stranger ones.
var strange = []string{`"12"`, `12.0`, `-3`, `4611686018427387904`, `1e300`, `null`, `"many"`, `[]`, `{}`}

// fault draws the fault of a request that arrives for the n-th time.
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
