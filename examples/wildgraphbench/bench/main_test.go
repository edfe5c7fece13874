// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// bare is an environment without any variable.
func bare(string) string { return "" }

// cacheName is the file of replies in the report folder that tests use.
const cacheName = "llm.journal"

// bench runs the program and returns its output. It stores replies in the report folder only.
func bench(t *testing.T, getenv func(string) string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	if i := slices.Index(args, "-out"); i >= 0 && !slices.Contains(args, "-cache") {
		args = append(slices.Clone(args), "-cache", filepath.Join(args[i+1], cacheName))
	}
	var out, errs bytes.Buffer
	err = run(t.Context(), args, getenv, &out, &errs)
	return out.String(), errs.String(), err
}

// serve starts a model server for the program, until the test ends; nil answers as package llmtest does.
func serve(t *testing.T, handler func(llm.Request) llm.Reply) *llmtest.Server {
	t.Helper()
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: handler})
	t.Cleanup(server.Close)
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk-planted-secret")
	return server
}

func readReport(t *testing.T, dir string) report.Report {
	t.Helper()
	data := check.Of(os.ReadFile(filepath.Join(dir, "report.json"))).OK(t)
	var r report.Report
	check.OK(t, json.Unmarshal(data, &r))
	return r
}

// shownBy compares every table after the first command of a document with the command's output, and the text of
// the verdict's picture with the page's.
func shownBy(t *testing.T, stdout, page string) {
	t.Helper()
	documents := check.Of(filepath.Glob("../../../docs/*.md")).OK(t)
	html := check.Of(os.ReadFile(page)).OK(t)
	rows, pictures := 0, 0
	for _, name := range append(documents, "../../../README.md") {
		data := check.Of(os.ReadFile(name)).OK(t)
		for _, block := range regexp.MustCompile("(?m)^     System  (.*\n)+?```").FindAllString(string(data), -1) {
			for part := range strings.SplitSeq(strings.TrimSuffix(block, "```"), "  …\n") {
				if rows += strings.Count(part, "\n"); !strings.Contains(stdout, part) {
					t.Errorf("%s shows\n%s\nand the program prints\n%s", name, part, stdout)
				}
			}
		}
		for _, m := range regexp.MustCompile(`!\[(.*)\]\(.*report-figures`).FindAllStringSubmatch(string(data), -1) {
			if pictures++; !strings.Contains(string(html), "<h1>"+m[1]+"</h1>") {
				t.Errorf("%s has the picture of %q, which is not the verdict: run .ci/pictures", name, m[1])
			}
		}
	}
	check.True(t, rows >= 4 && pictures == 1, "%d rows of tables, %d pictures", rows, pictures)
}

func TestSample(t *testing.T) {
	dir := t.TempDir()
	stdout, stderr, err := bench(t, bare, "-out", dir)
	check.OK(t, err)
	for _, want := range []string{"Evidence recall at 5, %", "naiverag", "Certainly behind", "Not ranked: msgraphrag-global", "no language model wrote", "-dry-run", "report.html"} {
		check.Contains(t, stdout, want, "the output")
	}
	shownBy(t, stdout, filepath.Join(dir, "report.html"))
	if lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n"); len(lines) > 29 || slices.ContainsFunc(lines[:len(lines)-1], func(l string) bool { return utf8.RuneCountInString(l) > 100 }) {
		t.Errorf("%d lines, or one of more than 100 characters:\n%s", len(lines), stdout) // all lines but the last, which ends in a path
	}
	verbose, _, err := bench(t, bare, "-out", dir, "-v")
	check.OK(t, err)
	for _, want := range []string{"Main results (extracted answers, lexical judge)", "zeroshot", "n/a", "Domain: "} {
		check.Contains(t, verbose, want)
	}
	check.Contains(t, stderr, "WildGraphBench sample (astronomy, seafaring): ", "progress")
	r := readReport(t, dir)
	check.Must(t, r.Kit == kit.NameOffline && len(r.Systems) == len(all.Systems()) &&
		len(r.Systems[0].Domains) >= 2, "report: kit %s, %d systems", r.Kit, len(r.Systems))
	for _, s := range r.Systems {
		if s.System == "zeroshot" {
			check.True(t, s.NotApplicable != "" && s.Overall.Lexical == nil, "zeroshot offline: %+v", s)
			continue
		}
		all := s.Overall.Types[benchmark.All]
		check.True(t, all.N != 0 && all.Judged == nil && all.Lexical != nil && all.RecallAt5 != nil &&
			s.PeakRSSMB != nil && s.QueryMsP99 != nil, "%s: %+v", s.System, all)
		least := 0.5 // a working retriever finds at least half of a small sample
		if s.System == "gretriever" {
			least = 0.4 // it has the pages of few triples, often fewer than five
		}
		check.True(t, *all.RecallAt5 >= least, "%s finds %.2f of the sample's evidence", s.System, *all.RecallAt5)
	}
	// The documented keys of the file, as a reader sees them.
	var raw map[string]any
	data, _ := os.ReadFile(filepath.Join(dir, "report.json"))
	check.OK(t, json.Unmarshal(data, &raw))
	system := raw["systems"].([]any)[1].(map[string]any)
	overall := system["overall"].(map[string]any)
	_, ok := overall["lexical"].(map[string]any)["avg_accuracy"]
	check.True(t, ok && overall["avg_accuracy"] == nil, "overall: %v", overall)
	types := overall["types"].(map[string]any)
	for _, key := range []string{"single-fact", "multi-fact", "summary", "all"} {
		check.True(t, types[key] != nil, "no figures for %s", key)
	}
	_, ok = types["all"].(map[string]any)["k"]
	check.True(t, !ok, "the figures over all types have a k")
	index := system["domains"].([]any)[0].(map[string]any)["index"].(map[string]any)
	for _, key := range []string{"documents", "chunks", "entities", "relations", "average_degree", "max_degree", "isolated_share", "seconds", "llm_calls", "prompt_tokens", "completion_tokens", "embedded_tokens"} {
		_, ok := index[key]
		check.True(t, ok, "index lacks %s", key)
	}
}

//go:embed testdata/usage.tsv
var usageTable string

func TestUsage(t *testing.T) {
	folder := t.TempDir()
	vars := map[string]string{"NONE": filepath.Join(folder, "none"), "FOLDER": folder, "FILE": os.Args[0]}
	for _, row := range strings.Split(strings.TrimSpace(usageTable), "\n")[1:] {
		row, want, _ := strings.Cut(row, "\t")
		args := strings.Split(os.Expand(row, func(name string) string { return vars[name] }), " ")
		t.Run(row, func(t *testing.T) {
			if args[0] != "-out" {
				args = append(args, "-out", filepath.Join(folder, "out"))
			} else {
				args[1] = strings.Trim(args[1], `"`) // an empty argument
			}
			_, _, err := bench(t, bare, args...)
			check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), want), "error %v, want one of usage with %q", err, want)
			check.Equal(t, setup.Status(io.Discard, "wildgraphbench", err), cli.WrongUsage, "exit status")
		})
	}
	if _, _, err := bench(t, bare, "-limit", "-1", "-mode", "x", "-systems", "y"); !strings.Contains(err.Error(), "-limit") ||
		!strings.Contains(err.Error(), "-mode") || !strings.Contains(err.Error(), "-systems") {
		t.Errorf("not all problems at once: %v", err)
	}
}

func TestListSystems(t *testing.T) {
	stdout, _, err := bench(t, bare, "-list-systems")
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if err != nil || len(lines) != len(all.Systems())+3 { // the systems, and rows for files, context, and agents together
		t.Fatalf("%q, %v", stdout, err)
	}
	for i, want := range map[int]string{
		0:              `^naiverag, lightrag-naive +Lewis and others 2020 +offline or with a model$`,
		2:              `^wild +our own +offline or with a model$`,
		len(lines) - 4: `^zeroshot +the model alone +needs a model$`,
		len(lines) - 3: `^files +our own +needs a model$`,
		len(lines) - 1: `^agentic:NAME +our own +needs a model: an agent`,
	} {
		check.True(t, regexp.MustCompile(want).MatchString(lines[i]), "line %d is %q", i, lines[i])
	}
}

// A finished run has nothing to do, and with -fresh repeats everything; no printed command is refused, whatever
// it changes.
func TestNextCommands(t *testing.T) {
	dir := t.TempDir()
	for _, next := range []struct {
		args []string
		want string
	}{
		{nil, "24 answers given"},
		{nil, "Nothing to do, 24 answers are there"},
		{[]string{"-fresh", "-dry-run"}, "makes no call"},
		{nil, "Nothing to do, 24 answers are there"},
		{[]string{"-limit", "1"}, "Nothing to do, 6 answers are there"},
		{[]string{"-domains", "astronomy"}, "Nothing to do, 12 answers are there"},
		{[]string{"-chunk-size", "600"}, "24 answers given"},
		{[]string{"-k", "3"}, "18 answers given"},
		{[]string{"-systems", "BM25,naiverag"}, "24 answers given"},
		{[]string{"-fresh"}, "24 answers given"},
	} {
		stdout, _, err := bench(t, bare, append([]string{"-systems", "bm25", "-out", dir}, next.args...)...)
		check.True(t, err == nil && strings.Contains(stdout, next.want), "%v: %v, want %q\n%s", next.args, err, next.want, stdout)
	}
}

// broken copies the sample into a folder and damages it.
func broken(t *testing.T, damage func(dir string)) string {
	t.Helper()
	dir := t.TempDir()
	check.OK(t, os.CopyFS(dir, check.Of(fs.Sub(sample, "sample")).OK(t)))
	damage(dir)
	return dir
}

func glob(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	check.Must(t, err == nil && len(found) != 0, "%s: %v, %v", pattern, found, err)
	return found[0]
}

func TestBadData(t *testing.T) {
	write := func(name, data string) { check.OK(t, os.WriteFile(name, []byte(data), 0o644)) }
	for _, tt := range []struct {
		name   string
		damage func(dir string)
		want   string
	}{
		{"malformed line", func(dir string) { write(glob(t, dir, "QA/*/questions.jsonl"), "{\n") }, "questions.jsonl:1"},
		{"not UTF-8", func(dir string) { write(glob(t, dir, "corpus/*/*/reference_pages/*.txt"), "# A\n\n\xff\n") }, ".txt:3: not valid UTF-8"},
		{"half a data set", func(dir string) { os.RemoveAll(glob(t, dir, "corpus/*")) }, "corpus is missing"},
		{"pages missing", func(dir string) {
			pages, _ := filepath.Glob(filepath.Join(dir, "corpus/*/*/reference_pages/*.txt"))
			for _, p := range pages[1:] {
				os.Remove(p)
			}
		}, "no page for"},
		{"nothing there", func(dir string) { os.RemoveAll(filepath.Join(dir, "QA")) }, "point to the folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			_, _, err := bench(t, bare, "-data", broken(t, tt.damage), "-out", out)
			if err == nil || !strings.Contains(err.Error(), tt.want) || setup.Status(io.Discard, "wildgraphbench", err) != 1 {
				t.Errorf("error %v, want a failure with %q", err, tt.want)
			}
			check.True(t, check.Err(os.Stat(out)) != nil, "a report folder was begun")
		})
	}
}

// Other flags with the same folder keep its records and use those that match; records of another version are
// refused.
func TestOtherConfiguration(t *testing.T) {
	dir := t.TempDir()
	small := []string{"-out", dir, "-systems", "bm25", "-limit", "1", "-no-timings"}
	if _, _, err := bench(t, bare, small...); err != nil {
		t.Fatal(err)
	}
	first := folder(t, dir)
	_, stderr, err := bench(t, bare, append(small, "-chunk-size", "300", "-chunk-overlap", "20")...)
	check.True(t, err == nil && !strings.Contains(stderr, "answers were there"), "chunks of another size: %v\n%s", err, stderr)
	_, stderr, err = bench(t, bare, small...)
	check.True(t, err == nil && strings.Contains(stderr, "answers were there"), "the first flags again: %v\n%s", err, stderr)
	check.Equal(t, folder(t, dir), first, "the first flags again (-first +again)")
	old := t.TempDir()
	j, err := journal.Open(filepath.Join(old, record.JournalName), journal.Header{Schema: "wildgraph-run/2", Config: "{}"}, journal.Options{})
	check.OK(t, errors.Join(err, j.Close()))
	_, _, err = bench(t, bare, "-out", old, "-systems", "bm25", "-limit", "1")
	if !errors.Is(err, record.ErrOtherSchema) || !strings.Contains(err.Error(), "choose another folder") || setup.Status(io.Discard, "wildgraphbench", err) != 1 {
		t.Errorf("records of another version: %v", err)
	}
}

// Characters of a folder's name that control a terminal are not printed, and the report's path is on a line of
// its own.
func TestShownPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a\x1b[31m\u202eb")
	stdout, stderr, err := bench(t, bare, "-out", dir, "-systems", "bm25", "-limit", "1")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	check.True(t, err == nil && !strings.ContainsAny(stdout+stderr, "\x1b\u202e") &&
		strings.HasPrefix(lines[len(lines)-1], "Report: "), "%v\n%q\n%q", err, stdout, stderr)
}

func TestScore(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := bench(t, bare, "-out", filepath.Join(dir, "a"), "-systems", "bm25"); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "a", "predictions", "bm25.jsonl")
	stdout, _, err := bench(t, bare, "-out", filepath.Join(dir, "b"), "-systems", "bm25", "-score", "theirs="+own)
	check.OK(t, err)
	r := readReport(t, filepath.Join(dir, "b"))
	diff := cmp.Diff(r.Systems[0].Overall.Lexical, r.Systems[1].Overall.Lexical)
	check.True(t, diff == "" && r.Systems[1].System == "theirs", "our own predictions, read back, score otherwise:\n%s\n%s", diff, stdout)
	for _, key := range []string{"evidence_recall_at_5", "evidence_recall", "hit_at_5"} {
		ours, _ := r.Systems[0].Overall.Types[benchmark.All].Figure(key)
		theirs, ok := r.Systems[1].Overall.Types[benchmark.All].Figure(key)
		check.True(t, ok && (key != "evidence_recall" || theirs == ours) && theirs != 0,
			"%s of our own predictions, read back: %v, ours %v", key, theirs, ours)
	}
	_, ok := r.Systems[1].Overall.Types[benchmark.All].Figure("context_tokens")
	check.True(t, !ok, "the length of a prompt nobody has seen is known")
	lines, _ := os.ReadFile(own)
	some := filepath.Join(dir, "some.jsonl")
	check.OK(t, os.WriteFile(some, []byte(strings.Join(strings.SplitAfter(string(lines), "\n")[:3], "")), 0o644))
	if _, _, err := bench(t, bare, "-out", filepath.Join(dir, "d"), "-score", "theirs="+some); err == nil || !strings.Contains(err.Error(), "no line for 21 of 24 questions") || !strings.Contains(err.Error(), "-partial") {
		t.Errorf("3 of 24 questions: %v", err)
	}
	stdout, _, err = bench(t, bare, "-out", filepath.Join(dir, "d"), "-systems", "bm25", "-score", "theirs="+some, "-partial")
	check.True(t, err == nil && strings.Contains(stdout, "theirs (n = 3)"), "3 of 24 questions, with -partial: %v\n%s", err, stdout)
	twice := filepath.Join(dir, "twice.jsonl")
	check.OK(t, os.WriteFile(twice, append(lines, lines...), 0o644))
	_, _, err = bench(t, bare, "-out", filepath.Join(dir, "c"), "-score", "theirs="+twice)
	check.Fails(t, err, "asks the same question", "duplicates")
}

// Without -out the folder's name depends on what decides the answers: it stays with more systems, questions or
// another judge, and changes with other chunks.
func TestFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	name := func(args ...string) string {
		s := check.Of(parseFlags(args, bare, io.Discard, all.Names())).OK(t)
		return filepath.ToSlash(s.Out)
	}
	base := name()
	check.True(t, strings.HasPrefix(base, "wildgraphbench-out/sample-offline-"), "without flags: %s", base)
	for _, args := range [][]string{{"-systems", "bm25"}, {"-limit", "2"}, {"-sweep", "2..4"}, {"-concurrency", "3"}} {
		check.Equal(t, name(args...), base, "%v", args)
	}
	seen := map[string][]string{base: nil}
	for _, args := range [][]string{{"-chunk-size", "300"}, {"-chunk-overlap", "0"}, {"-k", "3"}, {"-seed", "2"}, {"-mode", "reject"}, {"-data", ".."}, {"-model", "org/m:1"}} {
		got := name(args...)
		other, taken := seen[got]
		check.True(t, !taken && strings.Count(got, "/") == 1, "%v: %s, as %v", args, got, other)
		seen[got] = args
	}
	got := name("-model", "org/m:1")
	check.True(t, strings.HasPrefix(got, "wildgraphbench-out/sample-org_m_1-"), "of a model: %s", got)
	if _, stderr, err := bench(t, bare, "-systems", "bm25", "-limit", "1"); err != nil {
		t.Errorf("%v\n%s", err, stderr)
	} else if _, err := os.Stat(filepath.Join(base, "report.json")); err != nil {
		t.Error(err)
	}
}

// An overlap of 0 means none, not the default.
func TestNoOverlap(t *testing.T) {
	chunks := func(overlap string) (n int) {
		dir := t.TempDir()
		_, _, err := bench(t, bare, "-out", dir, "-systems", "bm25", "-limit", "1", "-domains", "seafaring", "-chunk-size", "150", "-chunk-overlap", overlap)
		check.OK(t, err)
		return readReport(t, dir).Systems[0].Domains[0].Index.Chunks
	}
	const usual = "12" // overlap of a twelfth of the chunk
	none, some := chunks("0"), chunks(usual)
	check.True(t, none < some, "%d chunks without overlap, %d with an overlap of %s", none, some, usual)
}
