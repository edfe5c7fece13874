// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/benchmark/fetch"
	"github.com/wildgraph/wildgraph/benchmark/internal/zoo"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/model"
	"github.com/wildgraph/wildgraph/judge/short"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Files of strangers that hold something else end in an error that names the place.
func TestHostileFiles(t *testing.T) {
	deep := strings.Repeat("[", 200_000)
	owl := "What does the owl eat?"
	files := func(pairs ...string) fs.FS {
		out := fstest.MapFS{}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		}
		return out
	}
	predictions := func(text string) error {
		p, err := benchmark.ReadPredictions("x", "x.jsonl", strings.NewReader(text), nil, func(q string) bool { return q == owl })
		if err == nil {
			err = p.Locate(zoo.Dataset())
		}
		return err
	}
	questions := func(text string) error {
		_, err := own.Load(t.Context(), "q.jsonl", strings.NewReader(text), files("owl.md", "# Owls"), load.Options{})
		return err
	}
	beir := func(query, qrels string) error {
		_, err := own.BEIR(files("corpus.jsonl", `{"_id": "d", "text": "x"}`, "queries.jsonl", query, "qrels/test.tsv", qrels), "b")
		return err
	}
	hops := func(more string) error {
		_, err := multihop.Load(files("hotpotqa.json", `[{"_id": "h", "question": "Q?", "answer": "A", "type": "bridge", `+more+`}]`), multihop.Options{})
		return err
	}
	names := func(qa string) error {
		_, err := anonyrag.Load(files("eng_corpus.json", `["PERSON#1 sailed."]`, "eng_qa.json", "["+qa+"]"))
		return err
	}
	for want, err := range map[string]error{
		"x.jsonl:1":                     predictions(`[{"question": "` + owl + `", `),
		`no "question"`:                 predictions(`{"question": {"text": "x"}, "answer": "y"}`),
		`"evidence" is not a list`:      predictions(`{"question": "` + owl + `", "answer": "y", "evidence": {"a": 1}}`),
		`"", the evidence`:              predictions(`{"question": "` + owl + `", "answer": "y", "evidence": [null]}`),
		`"#", the evidence`:             predictions(`{"question": "` + owl + `", "answer": "y", "evidence": ["#"]}`),
		`\x1b[2J`:                       predictions(`{"question": "\u001b[2J", "answer": "y"}`),
		"x.jsonl":                       predictions(deep),
		`"../owl.md" is no file`:        questions(`{"question": "Q?", "gold": ["../owl.md"]}`),
		`"" is no file`:                 questions(`{"question": "Q?", "gold": [[""]]}`),
		"q.jsonl:1":                     questions(`{"question": 7, "answer": "x"}`),
		"q.jsonl":                       questions(deep),
		"qrels/test.tsv:1":              beir(`{"_id": "q", "text": "x"}`, "q\td\t99999999999999\n"),
		`queries.jsonl:1: no "_id"`:     beir(`{"_id": "", "text": "x"}`, "q\td\t1\n"),
		`"supporting_facts" is no list`: hops(`"supporting_facts": [[]], "context": []`),
		`"context" is no list`:          hops(`"supporting_facts": [], "context": [["a"]]`),
		`"context" has 2 titles and 1`:  hops(`"supporting_facts": [], "context": {"title": ["a", "b"], "sentences": [["x"]]}`),
		"no paragraph is marked":        hops(`"supporting_facts": [], "context": []`),
		"hotpotqa.json":                 hops(deep),
		`"hops" is "1e99"`:              names(`{"question": "Q?", "answer": "A", "hops": 1e99}`),
		"27 options":                    names(`{"question": "Q?", "answer": "A", "options": [` + strings.TrimSuffix(strings.Repeat(`"x",`, 27), ",") + `]}`),
		"names no placeholder":          names(`{"question": "Q?", "answer": "——", "type": "reversion"}`),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 2000 {
			t.Errorf("%.300v, want %s", err, want)
		}
	}
}

// Records that are none are told by their file, and stay as they are.
func TestHostileRecords(t *testing.T) {
	for name, put := range map[string]func(file string) error{
		"noise": func(file string) error {
			return os.WriteFile(file, []byte(strings.Repeat("\x00\xff{\"a\"", 999)), 0o600)
		},
		"a folder": func(file string) error { return os.Mkdir(file, 0o700) },
		"JSON":     func(file string) error { return os.WriteFile(file, []byte(`{"schema": "wildgraph-run/3"}`), 0o600) },
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, record.JournalName)
		zoo.OK(t, put(file))
		before, _ := os.ReadFile(file)
		if log, err := record.Open(dir); err == nil || !strings.Contains(err.Error(), record.JournalName) {
			t.Errorf("%s: %v, %v", name, log, err)
		}
		if after, _ := os.ReadFile(file); string(after) != string(before) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// Replies of judges that are none leave an answer unscored.
func TestHostileVerdicts(t *testing.T) {
	c := judge.Case{Question: "Q?", Reference: "R.", Answer: "A."}
	for _, reply := range []string{
		`{"results": null}`, `{"results": [{"id": {"a": 1}, "score": 1}]}`, `{"results": [{"id": "t1", "score": 1e400}]}`, `{"results": [[1]]}`,
		strings.Repeat("[", 1<<20), "\x00", "1\u202e", `{"code": "000000", "results": []}`, "<think>1",
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, reply)
		byModel, err1 := model.New(m, model.Options{})
		byLine, err2 := short.New(short.Options{Model: m})
		zoo.OK(t, errors.Join(err1, err2))
		for _, j := range []judge.Judge{byModel, byLine} {
			if f, err := j.Fact(t.Context(), c); err != nil || f.State != judge.Unscored || len(f.Reason) > 2000 {
				t.Errorf("%.40q by %s: %.300v, %v", reply, j.Name(), f.Verdict, err)
			}
		}
	}
}

// lookUp leads every name to the same addresses.
type lookUp []netip.Addr

func (l lookUp) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return l, nil }

// A name that leads inside, also beside an address outside, is never asked.
func TestHostileNames(t *testing.T) {
	outside, inside := netip.MustParseAddr("203.0.114.9"), netip.MustParseAddr("127.0.0.2")
	for _, names := range []lookUp{{inside}, {outside, inside}, {netip.MustParseAddr("::ffff:127.0.0.2")}, {netip.MustParseAddr("fd00::1")}, nil} {
		f, err := fetch.New(fetch.Options{Agent: "test", NoRobots: true, Resolver: names, Tries: 1})
		zoo.OK(t, err)
		for _, address := range []string{"http://owl.example/", "https://owl.example:65536/", "http://owl.example:22/", "http://0x7f.1/", "http://%zz/", "//owl.example/"} {
			var e *fetch.Error
			if page, err := f.Page(t.Context(), address); !errors.As(err, &e) || e.Kind != fetch.Refused && len(names) > 0 && !strings.Contains(address, "65536") {
				t.Errorf("%s at %v: %+v, %v", address, names, page, err)
			}
		}
	}
}
