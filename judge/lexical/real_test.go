// SPDX-License-Identifier: Apache-2.0

package lexical_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/judge"
)

// On real questions a reference is an answer to itself; with another digit, or
// the next question's reference, it is none.
func TestLexicalOnRealReferences(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "QA", "*", "questions.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no questions: %v", err)
	}
	var cases []judge.Case
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var q struct{ Question, Answer string }
			if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
				t.Fatal(err)
			}
			if q.Answer != "" {
				cases = append(cases, judge.Case{Question: q.Question, Reference: q.Answer})
			}
		}
		_ = f.Close() // only read
	}
	j := newJudge(t, judge.Options{})
	own, others, numbers, misread := 0, 0, 0, 0
	for i, c := range cases {
		c.Answer = c.Reference
		v, err := j.Fact(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if own += int(v.Value); v.Value == 0 {
			t.Logf("not its own answer: %q: %s", c.Reference, v.Reason)
		}
		if at := strings.LastIndexAny(c.Reference, "0123456789"); at >= 0 {
			numbers++
			c.Answer = c.Reference[:at] + string('0'+(c.Reference[at]-'0'+5)%10) + c.Reference[at+1:]
			if v, err = j.Fact(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if misread += int(v.Value); v.Value == 1 {
				t.Logf("another number passes: %q: %q", c.Question, c.Answer)
			}
		}
		c.Answer = cases[(i+1)%len(cases)].Reference
		if v, err = j.Fact(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if others += int(v.Value); v.Value == 1 {
			t.Logf("answered by the next: %q: %q (%s)", c.Reference, c.Answer, v.Reason)
		}
	}
	t.Logf("%d references: %d answer themselves, %d are answered by the next one; of %d with a changed digit %d pass", len(cases), own, others, numbers, misread)
	if own < len(cases)*99/100 || others > len(cases)/100 || misread > numbers/5 {
		t.Errorf("%d of %d references answer themselves, %d are answered by the next one, %d of %d pass with a changed digit", own, len(cases), others, misread, numbers)
	}
}
