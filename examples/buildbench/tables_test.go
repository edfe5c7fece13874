// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/graphrag/load/parquet"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Parquet as Hugging Face has AnonyRAG's reads, when it is lines, as JSON does.
func TestParquet(t *testing.T) {
	type passage struct {
		ID   string `parquet:"id"`
		Text string `parquet:"text"`
	}
	type question struct {
		Question string   `parquet:"question"`
		Options  []string `parquet:"options,list"`
		Answer   string   `parquet:"answer"`
		Hops     int32    `parquet:"hops"`
		Book     *string  `parquet:"book,optional"`
		Evidence []string `parquet:"evidence,list"`
	}
	from, to, plain := t.TempDir(), t.TempDir(), t.TempDir()
	asked := filepath.Join(from, "data", "eng_qa-00000-of-00001.parquet")
	for _, err := range []error{
		os.Mkdir(filepath.Join(from, "data"), 0o777),
		pq.WriteFile(filepath.Join(from, "data", "eng_corpus-00000-of-00002.parquet"), []passage{{"a", "[PERSON#1] slept."}}),
		pq.WriteFile(filepath.Join(from, "data", "eng_corpus-00001-of-00002.parquet"), []passage{{"b", "[PERSON#2] <sang>."}}),
		pq.WriteFile(asked, []question{{"Who sang?", []string{"[PERSON#1]", "[PERSON#2]"}, "B", 5, nil, []string{"b"}}}),
		os.WriteFile(filepath.Join(plain, "eng_corpus.json"), []byte(`[{"id": "a", "text": "[PERSON#1] slept."}, {"id": "b", "text": "[PERSON#2] <sang>."}]`), 0o666),
		os.WriteFile(filepath.Join(plain, "eng_qa.json"), []byte(`[{"question": "Who sang?", "options": ["[PERSON#1]", "[PERSON#2]"], "answer": "B", "hops": 5, "evidence": ["b"]}]`), 0o666),
	} {
		check.OK(t, err)
	}
	convert := func() error {
		return run(t.Context(), []string{"-parquet", from, "-out", to}, func(string) string { return "" }, io.Discard, io.Discard)
	}
	check.OK(t, convert())
	load := func(dir string) *benchmark.Dataset {
		return check.Of(anonyrag.Load(os.DirFS(dir))).OK(t)
	}
	got, want := load(to).Domains[0], load(plain).Domains[0]
	diff := cmp.Diff(want.Items, got.Items)
	check.True(t, diff == "" && got.Fingerprint == want.Fingerprint && got.Items[0].Type == "choice-complex", "%v", diff)
	whole, err := os.ReadFile(asked)
	if err == nil {
		err = os.WriteFile(asked, whole[:len(whole)/2], 0o666)
	}
	check.OK(t, err)
	err = convert()
	check.True(t, err != nil && strings.Contains(err.Error(), "eng_qa-00000-of-00001.parquet: ") && errors.Is(err, parquet.ErrDamaged), "%v", err)
}
