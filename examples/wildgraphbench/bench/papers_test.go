// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

// The model that reads triples for GeAR-s is another one than the model that reflects, filters
// and answers, where an option names it; the dry run and the ledger have both.
func TestReaderOfGeAR(t *testing.T) {
	server := serve(t, nil)
	dir := t.TempDir()
	args := []string{"-out", dir, "-limit", "1", "-systems", "gear", "-model", "large", "-set", "gear.reader=small", "-no-timings"}
	plan, _, err := bench(t, bare, append(args, "-dry-run")...)
	check.Must(t, err == nil && strings.Contains(plan, "small") && strings.Contains(plan, "large") && len(server.Requests()) <= 0, "%s\n%v", plan, err)
	_, _, err = bench(t, bare, args...) // the server's replies are of no use
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
	if len(read) != 1 || read["small"] < 2 || rest["large"] == 0 || rest["small"] > 1 { // one sign of life
		t.Errorf("%v read, %v the rest: %v", read, rest, err)
	}
	ledger, err := os.ReadFile(filepath.Join(dir, "ledger.json"))
	check.True(t, err == nil && bytes.Contains(ledger, []byte(`:small"`)) && bytes.Contains(ledger, []byte(`:large"`)), "%s, %v", ledger, err)
	_, _, err = bench(t, bare, "-out", t.TempDir(), "-systems", "gear", "-set", "gear.reader=small")
	check.Fails(t, err, "gear.reader=small: a model takes a server")
}

// serveGrader serves a model that answers and grades.
func serveGrader(t *testing.T) {
	serve(t, func(req llm.Request) llm.Reply {
		if text, ok := setup.DryGrader.Reply(req); ok {
			return llm.Reply{Text: text}
		}
		return llm.Reply{Text: "An answer [1]."}
	})
}

// Over a domain of the paper a model judges by the paper's metric, with the paper's rows below, if no
// flag says otherwise; over other pages by joint.
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

// What GeAR-s reached on LiveRAG's scales is a row below those of a model's verdicts; without a
// model there are none.
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

// The schema that bounded an index is in the report folder, where it can be taken from as
// -schema; without one there is nothing to leave out.
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

// Each table and figure of the papers is printed by the flags that the documents give for it: these
// run, on what testdata/papers.tsv names, and print what matches its expressions.
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

// People are given what a system read, and what they write is a row of the table. A sheet that is
// filled in half names what is missing, and counts with -partial.
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

// A graph by its path: lines that are not triples are logged, files of another kind refused.
func TestGraphByPath(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"cut.tsv": "Pharos of Alexandria\tcommissioned by\tPtolemy I Soter\nPharos of", "g.rdf": "<rdf/>"} {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	args := []string{"-out", filepath.Join(dir, "out"), "-systems", "gear", "-domains", "seafaring", "-limit", "1", "-kg"}
	if _, stderr, err := bench(t, bare, append(args, filepath.Join(dir, "cut.tsv"))...); err != nil || !strings.Contains(stderr, "-kg: ignored 1 lines that are not triples, first: ") || !strings.Contains(stderr, "cut.tsv:2: 1 fields between tabs, want 3") {
		t.Errorf("%v: %s", err, stderr)
	}
	if _, _, err := bench(t, bare, append(args, filepath.Join(dir, "g.rdf"))...); err == nil || !strings.Contains(err.Error(), "-kg: triples: "+filepath.Join(dir, "g.rdf")+": want a file whose name ends in .tsv, .jsonl or .nt") {
		t.Error(err)
	}
}
