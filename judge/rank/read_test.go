// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// testdata/golden.py ran pytrec_eval-terrier 0.5.11 (trec_eval's C code) over
// the same files: 40 queries, 27 measures.
func TestAsTrecEval(t *testing.T) {
	open := func(name string) io.Reader {
		f, err := os.Open("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	qrels, err := ReadQrels(open("qrels.txt"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := ReadRun(open("run.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]map[string]float64
	if err := json.NewDecoder(open("golden.json")).Decode(&golden); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for name, want := range golden {
		m, err := ParseMeasure(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Evaluate(qrels, run, []Measure{m}, Strict)
		if err != nil {
			t.Fatal(err)
		}
		for q, query := range r.Queries {
			if math.Abs(r.Values[q]-want[query]) > 2e-9 {
				t.Errorf("%s of %s = %.9f, trec_eval says %.9f", name, query, r.Values[q], want[query])
			}
			compared++
		}
	}
	if compared != 40*27 {
		t.Errorf("compared %d values, want %d", compared, 40*27)
	}
}

func TestReadRun(t *testing.T) {
	run, err := ReadRun(strings.NewReader("\ufeffq1 Q0 d1 1 2.5 t\r\n\nq2\tQ0\td\xff\t9\t1e3\tt\n  q1 Q0 d2 first 1e999 t\nq1 Q0 d3 0 -Inf t"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"q1", "q2"}, run.Queries()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Hit{{"d2", math.Inf(1)}, {"d1", 2.5}, {"d3", math.Inf(-1)}}, run.Hits("q1")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Hit{{"d\xff", 1000}}, run.Hits("q2")); diff != "" {
		t.Error(diff)
	}
	if run.Hits("q3") != nil {
		t.Error("hits of a query that is not there")
	}
	if run, err := ReadRun(strings.NewReader("")); err != nil || len(run.Queries()) != 0 {
		t.Errorf("empty run: %v, %v", run, err)
	}
}

// Comments and what stands behind the last column are passed over, as in trec_eval 10.
func TestCommentsAndFurtherColumns(t *testing.T) {
	run, err := ReadRun(strings.NewReader("# made by us, at depth 5\nq Q0 d 1 2.5 t further words\n  #q Q0 e 1 2 t\nq# Q0 d 1 1 t\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"q", "q#"}, run.Queries()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Hit{{"d", 2.5}}, run.Hits("q")); diff != "" {
		t.Error(diff)
	}
	// Four words that end in a number would be a judgment.
	qrels, err := ReadQrels(strings.NewReader("# judged in 2024\nq 0 d 1 by hand\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"q"}, qrels.Queries()); diff != "" {
		t.Error(diff)
	}
}

func TestReadErrors(t *testing.T) {
	long := strings.Repeat("x", MaxLine+1)
	for name, tc := range map[string]struct {
		text  string
		wants []string
	}{
		"all lines": {"q Q0 d 1 x t\nq Q0 d\nq Q0 d 1 nan t\n", []string{"line 1: score \"x\"", "line 2: 3 columns, want 6", "line 3: score \"nan\""}},
		"columns":   {"q Q0 d 1 2\n", []string{"line 1: 5 columns"}},
		"duplicate": {"q Q0 d 1 5 t\np Q0 d 1 5 t\nq Q0 e 1 5 t\nq Q0 d 1 4 t\n", []string{"line 4: document \"d\" of query \"q\" occurs twice, before in line 1"}},
		"long line": {"q Q0 d 1 1 t\n" + long, []string{"line 2: longer than 1048576 bytes"}},
		"quoting":   {"q Q0 d 1 \x1b[31m t\n", []string{`\x1b[31m`}},
		"clipped":   {"q Q0 d 1 " + long[:5000] + " t\n", []string{"line 1"}},
	} {
		_, err := ReadRun(strings.NewReader(tc.text))
		if err == nil {
			t.Errorf("%s: read", name)
			continue
		}
		for _, want := range tc.wants {
			if !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
				t.Errorf("%s: error %q, want %q", name, err, want)
			}
		}
	}
	if _, err := ReadRun(strings.NewReader("q Q0 d 1 1 t\nq Q0 d 1 1 t")); !errors.Is(err, ErrDuplicate) {
		t.Errorf("duplicate: %v", err)
	}
	if _, err := ReadQrels(strings.NewReader("q 0 d 1.5\nq 0 e 99999999999\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("qrels: %v", err)
	}
	if _, err := ReadQrels(iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("failing reader: %v", err)
	}
	_, err := ReadRun(strings.NewReader(strings.Repeat("bad\n", 1e5)))
	if n := strings.Count(err.Error(), "\n") + 1; n != maxErrors {
		t.Errorf("%d errors, want %d", n, maxErrors)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("q Q0 d 1 2.5 t\nq Q0 e 2 2.5 t\n", "q 0 d 1\n")
	f.Add("\ufeffq\tQ0\td\t1\tinf\tt\r\n", "q 0 d -3\r\n\r\n")
	f.Add("q Q0 d 1 nan t", "q 0 d 1 extra")
	f.Add("\x00 \xff d 1 0x1p-2 t", "\x00 \xff d 2147483648")
	f.Fuzz(func(t *testing.T, runText, qrelsText string) {
		run, err := ReadRun(strings.NewReader(runText))
		if err != nil {
			return
		}
		for _, q := range run.Queries() {
			hits := run.Hits(q)
			for i := 1; i < len(hits); i++ {
				if a, b := hits[i-1], hits[i]; a.Score < b.Score || a.Score == b.Score && a.Doc <= b.Doc {
					t.Fatalf("order %v, %v", a, b)
				}
			}
			again := new(Run)
			if err := again.Add(q, hits); err != nil {
				t.Fatalf("what was read cannot be added: %v", err)
			}
		}
		qrels, err := ReadQrels(strings.NewReader(qrelsText))
		if err != nil {
			return
		}
		r, err := Evaluate(qrels, run, allMeasures(), Complete)
		if err != nil {
			t.Fatal(err)
		}
		for _, fig := range r.Figures() {
			if !(fig.Value >= 0 && fig.Value <= 1+1e-9) {
				t.Fatalf("%+v", fig)
			}
		}
	})
}

func BenchmarkEvaluate(b *testing.B) {
	var qrels Qrels
	var run Run
	for q := range 1000 {
		var hits []Hit
		var judgments []Judgment
		for d := range 100 {
			hits = append(hits, Hit{fmt.Sprint("doc", (d*7919+q)%5000), float64(100 - d)})
			if d%10 == 0 {
				judgments = append(judgments, Judgment{fmt.Sprint("doc", (d*7919+q+d%3)%5000), 1 + int32(d%3)})
			}
		}
		if err := errors.Join(run.Add(fmt.Sprint(q), hits), qrels.Add(fmt.Sprint(q), judgments)); err != nil {
			b.Fatal(err)
		}
	}
	measures := []Measure{{Kind: Recall, K: 5}, {Kind: NDCG, K: 10}, {Kind: AP}, {Kind: RR}, {Kind: Precision, K: 5}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Evaluate(&qrels, &run, measures, Complete); err != nil {
			b.Fatal(err)
		}
	}
}
