// SPDX-License-Identifier: Apache-2.0

package triples_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// tree writes files into a folder of their own; a name that ends in .gz is compressed.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		data := []byte(content)
		if strings.HasSuffix(name, ".gz") {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write(data)
			z.Close()
			data = b.Bytes()
		}
		texttest.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	return dir
}

const labelledNT = `<http://x/Q1> <http://www.w3.org/2000/01/rdf-schema#label> "Vienna"@en .
<http://x/Q2> <http://www.w3.org/2000/01/rdf-schema#label> "Austria"@en .
<http://x/Q1> <http://x/capital_of> <http://x/Q2> .
`

func TestLoad(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.tsv": "Vienna\tcapital of\tAustria\n", "a.tsv.gz": "Vienna\tcapital of\tAustria\n",
		"a.jsonl": `{"h":{"id":"Q1","label":"Vienna"},"r":"capital of","t":"Austria"}`, "a.nt": labelledNT,
	})
	folders := []string{
		tree(t, map[string]string{"wikidata5m_all_triplet.txt": "Q1\tP36\tQ2\n", "wikidata5m_entity.txt": "Q1\tVienna\tWien\nQ2\tAustria\n", "wikidata5m_relation.txt": "P36\tcapital of\n"}),
		filepath.Join(t.TempDir(), "built"),
	}
	texttest.OK(t, triples.Build(t.Context(), folders[1], triples.Files(filepath.Join(dir, "a.nt"), &triples.Bad{}), triples.Options{}))
	for _, path := range append(folders, filepath.Join(dir, "a.tsv"), filepath.Join(dir, "a.tsv.gz"), filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "a.nt")) {
		ix, err := triples.Load(t.Context(), path, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if ix.Len() != 1 || ix.Triple(0).Text() != "Vienna capital of Austria" {
			t.Errorf("%s: %d triples, the first is %q", path, ix.Len(), ix.Triple(0).Text())
		}
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What is no graph of the format that its name claims is refused with the line and the remedy.
func TestLoadRefuses(t *testing.T) {
	dir := tree(t, map[string]string{
		"rows.tsv": "a\tb\nVienna\tcapital of\tAustria\nc\td\n", "empty.tsv": "", "a.xml": "<rdf/>",
		"labels.nt": strings.Join(strings.SplitAfter(labelledNT, "\n")[:2], ""), "a.json.jsonl": "[1,2]\n",
	})
	whole, err := os.ReadFile(filepath.Join(tree(t, map[string]string{"a.tsv.gz": strings.Repeat("Vienna\tcapital of\tAustria\n", 1000)}), "a.tsv.gz"))
	texttest.OK(t, err)
	texttest.OK(t, os.WriteFile(filepath.Join(dir, "cut.tsv.gz"), whole[:len(whole)-12], 0o600))
	nameless := tree(t, map[string]string{"all_triplet.txt": "Q1\tP36\tQ2\n"})
	for path, want := range map[string]string{
		filepath.Join(dir, "rows.tsv"):     "rows.tsv:1: 2 fields between tabs, want 3",
		filepath.Join(dir, "empty.tsv"):    "no triple of named entities",
		filepath.Join(dir, "labels.nt"):    "no triple of named entities",
		filepath.Join(dir, "a.xml"):        "want a file whose name ends in .tsv, .jsonl or .nt",
		filepath.Join(dir, "a.json.jsonl"): "a.json.jsonl:1: ",
		filepath.Join(dir, "cut.tsv.gz"):   "unexpected EOF",
		filepath.Join(dir, "none.tsv"):     "no such file",
		dir:                                "build it again",
		nameless:                           "no file with entity in its name",
	} {
		if _, err := triples.Load(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
