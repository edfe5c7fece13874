// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// recordedKinds tell the calls of systems apart by what their prompts ask for,
// those of now and those that were recorded, with the stage they belong to.
var recordedKinds = []struct{ kind, stage, mark string }{
	{"tuples", "index", `("entity"<|>`},
	{"lines", "index", "entity<|#|>"},
	{"objects", "index", `"other_relationships"`},
	{"triples", "index", `{"triples": [[`},
	{"names", "index", `{"named_entities": [`},
	{"report", "index", `"rating_explanation": `},
	{"describe", "index", "You make one description of several"},
	{"filter", "search", `{"fact": [[`},
	{"keywords", "search", `{"high_level_keywords": [`},
	{"parts", "search", `{"named": [`},
	{"points", "search", `{"points": [{`},
	{"answer", "answer", "You answer questions for people who will check"},
}

// recordedKind is the kind and the stage of a call with this system message; both
// are empty of one that was not recorded, such as a judge's.
func recordedKind(system string) (kind, stage string) {
	for _, k := range recordedKinds {
		if strings.Contains(system, k.mark) {
			return k.kind, k.stage
		}
	}
	return "", ""
}

// replay answers as a recorded model did to the call of the same kind with most words in
// common.
type replay map[string][]recorded

type recorded struct {
	words map[string]bool
	more  bool // a second look at a passage
	reply string
}

func newRecorded(user, reply string) recorded {
	words := make(map[string]bool)
	for _, w := range strings.Fields(user) {
		words[w] = true
	}
	return recorded{words, strings.Contains(user, "are still missing"), reply}
}

// asRecorded sorts recorded calls by their kind.
func asRecorded(calls []llmtest.Call) replay {
	r := replay{}
	for _, c := range calls {
		kind, _ := recordedKind(c.System)
		r[kind] = append(r[kind], newRecorded(c.User, c.Reply))
	}
	return r
}

// Reply is the reply to a request, "" if no call of its kind was recorded.
func (r replay) Reply(req llm.Request) string {
	var asked []string
	for _, m := range req.Messages {
		if m.Role == llm.User {
			asked = append(asked, m.Text)
		}
	}
	kind, _ := recordedKind(req.Messages[0].Text)
	of, best, reply := newRecorded(strings.Join(asked, "\n"), ""), -1.0, ""
	of.more = of.more || len(asked) > 1
	for _, c := range r[kind] {
		same := 0
		for w := range of.words {
			if c.words[w] {
				same++
			}
		}
		if like := float64(same) / float64(len(of.words)+len(c.words)); c.more == of.more && like > best {
			best, reply = like, c.reply
		}
	}
	return reply
}

// An address that cannot be one is a wrong command line, not a failed run.
func TestBadBaseURLIsAWrongCommandLine(t *testing.T) {
	for _, url := range []string{"localhost:80 80", "ftp://h", "http://10.0.0.1/v1", "http://me:secret@127.0.0.1/v1", "::"} {
		t.Setenv("OPENAI_BASE_URL", url)
		_, _, err := bench(t, bare, "-model", "m", "-out", t.TempDir(), "-cache", filepath.Join(t.TempDir(), "c"))
		var out strings.Builder
		status := setup.Status(&out, "wildgraphbench", err)
		check.True(t, status == cli.WrongUsage && !strings.Contains(out.String(), "secret"), "%s: status %d: %s", url, status, &out)
	}
}

// The ledger replaces a link, and does not write through it; one flag bounds all
// calls in flight.
func TestLedgerFileAndCallsInFlight(t *testing.T) {
	const most = 2
	inFlight := make(chan struct{}, most)
	serve(t, func(req llm.Request) llm.Reply {
		select {
		case inFlight <- struct{}{}:
			defer func() { <-inFlight }()
			time.Sleep(2 * time.Millisecond)
		default:
			t.Errorf("more than %d calls at a time", most)
		}
		return llmtest.Default(req)
	})
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	check.OK(t, os.WriteFile(victim, []byte("mine"), 0o600))
	if err := os.Symlink(victim, filepath.Join(dir, cli.LedgerName)); err != nil {
		t.Skip(err)
	}
	_, stderr, _ := bench(t, bare, "-out", dir, "-domains", "seafaring", "-limit", "1", "-systems", "bm25,hipporag2", "-model", "m", "-concurrency", "2")
	data, err := os.ReadFile(victim)
	check.True(t, err == nil && string(data) == "mine", "the ledger was written through a link: %q, %v", data, err)
	info, err := os.Lstat(filepath.Join(dir, cli.LedgerName))
	check.True(t, err == nil && info.Mode().IsRegular(), "no ledger: %v\n%s", err, stderr)
}

// An incomplete record is reported; a folder that is removed ends the run at once.
func TestTornAndRemovedFolders(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-out", dir, "-domains", "seafaring", "-systems", "bm25", "-limit", "2"}
	if _, stderr, err := bench(t, bare, args...); err != nil || strings.Contains(stderr, "incomplete") {
		t.Fatalf("%v\n%s", err, stderr)
	}
	file := filepath.Join(dir, record.JournalName)
	data := check.Of(os.ReadFile(file)).OK(t)
	check.OK(t, os.WriteFile(file, data[:len(data)-3], 0o600))
	if _, stderr, err := bench(t, bare, args...); err != nil || strings.Count(stderr, "an incomplete record was removed") != 1 {
		t.Errorf("%v\n%s", err, stderr)
	}

	asked := 0
	var mu sync.Mutex
	serve(t, func(req llm.Request) llm.Reply {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked == 10 {
			check.OK(t, os.RemoveAll(dir))
		}
		return llmtest.Default(req)
	})
	_, stderr, err := bench(t, bare, "-out", dir, "-domains", "seafaring", "-systems", "bm25", "-model", "m", "-concurrency", "1")
	check.Is(t, err, journal.ErrGone, "%v\n%s", err, stderr)
	check.True(t, asked <= 12, "%d calls were made after the folder was gone", asked-10)
}
