// SPDX-License-Identifier: Apache-2.0

package llm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mutant is a fault put into the code on purpose. Each must make a test fail:
// a test that no fault can break proves nothing.
type mutant struct {
	name     string
	file     string // from this folder
	old, new string
	tests    string // the package whose tests must notice, from this folder
}

var mutants = []mutant{
	// Durability.
	{"no fsync of records", "journal/journal.go", "	if !sync {\n		return nil\n	}", "	if true {\n		return nil\n	}", "journal"},
	{"no fsync of the header", "journal/journal.go", "	if err := j.f.Sync(); err != nil {\n		return fail(err)\n	}", "", "journal"},
	{"no fsync of the folder", "journal/journal.go", "	if err := j.disk.syncDir(filepath.Dir(j.path)); err != nil {\n		return fail(err)\n	}", "", "journal"},
	{"no second fsync of the folder", "journal/journal.go", "	return j.disk.syncDir(filepath.Dir(j.path))", "	return nil", "journal"},
	{"acknowledged before written", "journal/journal.go", "	<-b.done\n	return b.at + offset, b.err", "	return b.at + offset, nil", "journal"},
	{"torn tail not cut", "journal/journal.go", "	if x.end < size {\n		if err := j.f.Truncate", "	if x.end < size && false {\n		if err := j.f.Truncate", "journal"},
	{"cut tail not synced, seen records not synced", "journal/journal.go", "	if err := j.f.Sync(); err != nil {\n		return err\n	}\n	if x.next > 1 {", "	if x.next > 1 {", "journal"},
	{"seen records not written again", "journal/journal.go", "	if err := writeAll(j.f, last, from); err != nil {\n		return err\n	}", "", "journal"},
	{"checksum ignored", "journal/format.go", "if checksum(head, payload) != binary.LittleEndian.Uint32(head[4:]) {", "if false {", "journal"},
	{"checksum without the sequence number", "journal/format.go", "crc32.Update(sum, castagnoli, head[frameSz:recordSz])", "crc32.Update(sum, castagnoli, head[frameSz:frameSz+1])", "journal"},
	{"sequence numbers not checked", "journal/format.go", "err == nil && rec.Seq != x.next", "false", "journal"},
	{"damage taken for a torn tail", "journal/journal.go", "		case found:", "		case false && found:", "journal"},
	{"torn batch taken for damage", "journal/journal.go", "resync(j.f, end, size, next, true)", "resync(j.f, end, size, next, false)", "journal"},
	{"every batch firm", "journal/journal.go", "		if j.firm {", "		if true {", "journal"},
	{"no batch firm", "journal/journal.go", "		if j.firm {", "		if false {", "journal"},
	{"notes not synced at the end", "journal/journal.go", "if j.err == nil && !j.firm {", "if false {", "journal"},
	{"writing on after a failure", "journal/journal.go", "		if j.err == nil {\n			j.err = err\n		}", "", "journal"},
	{"short write taken for whole", "journal/disk.go", "err == nil && n < len(b)", "err == nil && n < 0", "journal"},
	{"lock skipped", "journal/lock_unix.go", "syscall.LOCK_EX|syscall.LOCK_NB", "syscall.LOCK_SH|syscall.LOCK_NB", "journal"},
	{"configuration not compared", "journal/journal.go", "if have != want {", "if have.Schema != want.Schema {", "journal"},
	{"file put into place before it is synced", "journal/writefile.go", "	if err == nil {\n		err = f.Sync()\n	}\n", "", "journal"},
	{"file put into place, its folder not synced", "journal/writefile.go", "	if err := d.syncDir(dir); err != nil {", "	if err := error(nil); err != nil {", "journal"},
	{"repair copies nothing after the damage", "journal/repair.go", "		if !ok {\n			r.BadTail", "		if true {\n			r.BadTail", "journal"},

	// Paying once.
	{"key without the model (and its base URL)", "paid/cache.go", `Model: model,`, `Model: "",`, "paid"},
	{"key without the temperature", "paid/cache.go", `Temperature: req.Temperature,`, ``, "paid"},
	{"key takes zero for absent", "paid/cache.go", `TopP: req.TopP,`, `TopP: func() *float64 {
		if req.TopP != nil && *req.TopP == 0 {
			return nil
		}
		return req.TopP
	}(),`, "paid"},
	{"key without the sample", "paid/cache.go", `Sample: req.Sample,`, ``, "paid"},
	{"name without the base URL", "langchain/config.go", `provider + ":" + display(c.url) + ":" + c.Model`, `provider + ":" + c.Model`, "langchain"},
	{"reply given that could not be kept", "paid/cache.go", "	if lost != nil {\n		return llm.Reply{}", "	if false {\n		return llm.Reply{}", "paid"},
	{"truncated reply kept as a success", "paid/cache.go", "		kind = recordFailure\n	case c.check", "		rec.Failure, rec.Reply = nil, &reply\n	case c.check", "paid"},
	{"truncated reply paid for again", "paid/cache.go", "llm.ErrRefused, llm.ErrTruncated,", "llm.ErrRefused,", "paid"},
	{"invalid reply cached as a success", "paid/cache.go", "	case c.check(req, reply) != nil:", "	case false:", "paid"},
	{"record of another request served", "paid/cache.go", "case r.Request != nil && !bytes.Equal(r.Request, request):", "case false:", "paid"},
	{"hits counted as paid", "paid/cache.go", "		known.reply.Usage = llm.Usage{CachedCalls: 1}\n", "		known.reply.Usage.CachedCalls = 1\n", "paid"},
	{"no single flight", "paid/cache.go", "c.flights.DoChan(string(k[:]),", "c.flights.DoChan(fmt.Sprintf(\"%p\", &led),", "paid"},
	{"vector of another text served", "paid/vectors.go", "; err == nil && have != k {", "; err == nil && have != k && false {", "paid"},

	// Failing well.
	{"retries without end", "transport/exchange.go", "		x.attempts >= x.t.o.Attempts || x.soft > maxSoft\n", "		false\n", "transport"},
	{"Retry-After ignored", "transport/exchange.go", "jitter(ceiling) + x.last.RetryAfter", "jitter(ceiling)", "transport"},
	{"Retry-After without limit", "transport/exchange.go", " || e.RetryAfter > x.t.o.MaxRetryAfter ||", " ||", "langchain"},
	{"a call that fails alone waits for the endpoint", "transport/gate.go", "&& g.success.Before(t)", "", "transport"},
	{"a slow endpoint uses up the attempts", "transport/exchange.go", "	case llm.ErrRateLimited:\n		return true\n", "", "transport"},
	{"no cut on overload", "transport/policy.go", "	a.limit = max(1, a.limit*cutFactor)\n", "", "transport"},
	{"a cut for every refusal", "transport/policy.go", "	if now.Before(a.until) {\n		return false\n	}", "", "transport"},
	{"breaker never opens", "transport/policy.go", "if all >= breakerCalls &&", "if false &&", "transport"},
	{"breaker without probes", "transport/gate.go", "	for g.waiting.Len() > 0 && !b.probing {", "	for g.waiting.Len() > 0 && !b.open() {", "transport"},
	{"a failure that leaves the successes counted", "transport/gate.go", "		g.limit.streak = 0\n", "", "transport"},
	{"reserved tokens not given back", "transport/transport.go", "	if used < reserved {", "	if false {", "transport"},
	{"quota taken for a rate limit", "transport/classify.go", `code == "insufficient_quota", `, "", "transport"},
	{"cut reply taken for whole", "langchain/from.go", `	case "length", "max_tokens",`, `	case "max_tokens",`, "langchain"},
	{"error becomes an empty reply", "langchain/from.go", "	if strings.TrimSpace(text) == \"\" {\n", "	if false {\n", "langchain"},
	{"lost stream taken for whole", "langchain/ollama.go", "		if errors.Is(err, io.EOF) {\n", "		if errors.Is(err, io.EOF) {\n			return finish(reply, text.String(), \"\")\n		}\n		if errors.Is(err, io.EOF) {\n", "langchain"},
	{"truncated JSON repaired", "json.go", "return nil, outputError(ErrTruncated, text, fmt.Errorf(\"the JSON object ends too early\"))", "return json.RawMessage(`{}`), nil", "."},
	{"body without limit", "transport/exchange.go", "if int64(len(data)) > t.o.MaxBody {", "if false {", "transport"},

	// Judging.
	{"unscored taken for 0", "../judge/tally.go", "		m.unscored(v.Cause(), 1)\n", "		m.Scored++\n", "../judge"},
	{"failure of the judge taken for 0", "../judge/judge.go", "Verdict{State: Unscored, Reason: reason}", "Verdict{State: Scored, Reason: reason}", "../judge/model"},
	{"missing verdict dropped", "../judge/internal/exam/batch.go", "				left[it.position] = true\n			case accept", "			case accept", "../judge/model"},
	{"unusable verdict dropped", "../judge/internal/exam/batch.go", "			default:\n				left[it.position] = true\n			}\n		}\n		if len", "			default:\n			}\n		}\n		if len", "../judge/model"},
	{"contradicting verdicts taken", "../judge/internal/exam/batch.go", "if !seen[id] || torn[id] {", "if !seen[id] {", "../judge/model"},
	{"failed canary passed over", "../judge/internal/exam/batch.go", "				return fmt.Errorf(\"%w: the judge %s\", errCanary, it.fault())\n", "", "../judge/model"},
	{"unscored question left out of the report", "../benchmark/report/tally.go", "		if j.Fact.State == judge.Unscored {\n			t.unscored++\n		}\n", "", "../benchmark/report"},

	// Money.
	{"budget not reserved", "paid/budget.go", "			b.reserved = b.reserved.add(n)\n", "", "paid"},
	{"unknown price costs nothing", "paid/price.go", "		return Cost{Partial: true}\n", "		return Cost{}\n", "paid"},
	{"attempts of a dead call forgotten", "paid/ledger.go", "		return l.keep(recordIntent, e)\n	}\n	used", "		return nil\n	}\n	used", "paid"},
	{"attempts not reserved", "paid/budget.go", "		if !b.grow(more) {", "		if false {", "paid"},
	{"unknown attempts of earlier starts cost nothing", "paid/client.go", "o.Tokens - spent.Most.Tokens()", "o.Tokens - spent.Usage.Tokens()", "paid"},
	{"zeros taken for a vector", "transport/classify.go", "case norm == 0 &&", "case false &&", "paid"},
	{"dimension not compared", "paid/vectors.go", "	case d.settled != 0 && d.settled != n:", "	case false:", "paid"},
	{"null taken for zero", "langchain/embedder.go", "bytes.Contains(b, []byte(\"null\")) || ", "", "langchain"},
	{"dead intents forgotten", "paid/ledger.go", "		l.open[e.ID] = e\n", "", "paid"},
	{"unknown attempts not counted", "transport/exchange.go", "	if e.Billed == llm.BilledUnknown {\n		llm.RecordUnknown", "	if false {\n		llm.RecordUnknown", "langchain"},

	// Secrets.
	{"secrets shown in errors", "errors.go", "	return keyLike.ReplaceAllString(text, hidden)", "	return text", "."},
	{"key shown in errors of the network", "transport/exchange.go", "			e.Err = errors.New(shown)\n", "", "langchain"},
	{"key kept in replies", "langchain/config.go", "	if len(key) < leastSecret {", "	if true {", "langchain"},
	{"key shown in errors", "transport/exchange.go", "	e.Body = llm.Excerpt([]byte(e.Body), secrets...)\n", "", "langchain"},
	{"ids and shapes of keys on cassettes", "llmtest/cassette.go", "return keyShapes.ReplaceAllString(text, \"***\")", "return text", "llmtest"},
}

func (m mutant) apply(t *testing.T) []byte {
	t.Helper()
	source, err := os.ReadFile(filepath.FromSlash(m.file))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		t.Fatalf("%s: %q stands %d times in %s: bring the mutant up to date", m.name, m.old, n, m.file)
	}
	return []byte(strings.Replace(string(source), m.old, m.new, 1))
}

// TestMutantsApply keeps the table below in step with the code.
func TestMutantsApply(t *testing.T) {
	for _, m := range mutants {
		m.apply(t)
	}
}

// TestMutants builds each mutant (by an overlay, the files stay as they are)
// and demands that a test fails. It takes minutes, so it waits for
// WILDGRAPH_MUTANTS=1; run it with -v.
func TestMutants(t *testing.T) {
	if os.Getenv("WILDGRAPH_MUTANTS") == "" {
		t.Skip("set WILDGRAPH_MUTANTS=1")
	}
	failed := regexp.MustCompile(`--- FAIL: (\S+)`)
	var table strings.Builder
	for _, m := range mutants {
		dir := t.TempDir()
		path, err := filepath.Abs(filepath.FromSlash(m.file))
		if err != nil {
			t.Fatal(err)
		}
		replacement, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
		if err := os.WriteFile(replacement, m.apply(t), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(map[string]any{"Replace": map[string]string{path: replacement}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(overlay, b, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "test", "-buildvcs=false", "-vet=off", "-failfast", "-timeout=60s", "-skip=Mutants", "-overlay="+overlay, "./"+m.tests)
		cmd.Env = append(os.Environ(), "WILDGRAPH_MUTANTS=", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		killer := failed.FindStringSubmatch(string(out))
		switch {
		case err == nil:
			t.Errorf("%s: lives", m.name)
		case strings.Contains(string(out), "[build failed]"):
			t.Errorf("%s does not build: %s", m.name, out)
		case killer != nil:
			fmt.Fprintf(&table, "| %s | `%s` | `%s` |\n", m.name, m.file, killer[1])
		case strings.Contains(string(out), "panic: test timed out"), strings.Contains(string(out), "deadlock"):
			running := regexp.MustCompile(`(Test\w+) \(`).FindStringSubmatch(string(out))
			fmt.Fprintf(&table, "| %s | `%s` | `%s` (never ends) |\n", m.name, m.file, append(running, "?", "?")[1])
		default:
			t.Errorf("%s: no test is named: %s", m.name, out)
		}
	}
	t.Logf("%d mutants\n\n| mutant | file | killed by |\n|---|---|---|\n%s", len(mutants), table.String())
}
