// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/ask/session/sessiontest"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/check"
)

// A question has one answer by ask, by a program, and by the benchmark, over sheets, mails,
// minutes, contracts, forms and tables that share sentences. An answer is quoted from the file of
// its question, and so is the clause that all contracts share.
func TestOneAnswer(t *testing.T) {
	const folder = "../../ask/testdata/office"
	lines := func(name string) []string {
		data := check.Of(os.ReadFile(name)).OK(t)
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	for _, name := range []string{"wild", "bm25", "hipporag2"} {
		asked := sessiontest.OpenDir(t, folder+"/docs", name)
		of, _ := all.Find(name)
		for mode, want := range map[reader.Mode]int{reader.Reject: 12, reader.Open: 22} {
			out := t.TempDir()
			_, _, err := bench(t, bare, "-questions", folder+"/questions.jsonl", "-docs", folder+"/docs", "-systems", name, "-mode", string(mode), "-out", out)
			check.OK(t, err)
			predictions := lines(filepath.Join(out, "predictions", name+".jsonl"))
			k := check.Of(kit.Offline(kit.OfflineOptions{Mode: mode})).OK(t)
			s := check.Of(of.New(k, kit.Common{})).OK(t)
			check.OK(t, check.Err(s.Index(t.Context(), load.Options{Formats: office.Formats()}.Documents(t.Context(), os.DirFS(folder+"/docs")))))
			right := 0
			for i, line := range lines(folder + "/questions.jsonl") {
				var q struct {
					Question, Answer string
					Gold             []string
				}
				check.OK(t, json.Unmarshal([]byte(line), &q))
				a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: q.Question})).OK(t)
				var p struct{ Answer string }
				check.OK(t, json.Unmarshal([]byte(predictions[i]), &p))
				check.True(t, p.Answer == a.Text,
					"%s: %q is answered %q by a program, %q in the benchmark", name, q.Question, a.Text, p.Answer)
				if mode == reader.Reject {
					r := check.Of(asked.Ask(t.Context(), session.Query{Question: q.Question})).OK(t)
					check.True(t, r.Refused == a.Refused && (a.Refused || r.Answer == a.Text && r.Sources[0].File == q.Gold[0]),
						"%s: %q is answered %q by a program, %q from %v by ask", name, q.Question, a.Text, r.Answer, r.Sources)
				}
				if strings.Contains(a.Text, q.Answer) {
					right++
				} else if strings.Contains(q.Question, "deposit") && mode == reader.Open {
					t.Errorf("%s: %q is answered %q", name, q.Question, a.Text)
				}
				for _, c := range a.Citations {
					if from, _ := a.Passage(c); from.Doc != q.Gold[0] {
						t.Errorf("%s: %q is answered from %s, want %s", name, q.Question, from.Doc, q.Gold[0])
					}
				}
			}
			check.True(t, right >= want, "%s, %s: %d answers are right, want %d", name, mode, right, want)
		}
	}
}
