// SPDX-License-Identifier: Apache-2.0

package triples_test

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
)

func read(t *testing.T, r *triples.Reader) (out []triples.Triple) {
	t.Helper()
	for x, err := range r.All() {
		check.OK(t, err)
		out = append(out, x)
	}
	return out
}

func nameTable(list []triples.Triple) (out []string) {
	for _, x := range list {
		out = append(out, x.Text())
	}
	return out
}

func same(s string) triples.Entity { return triples.Entity{ID: s, Label: s} }

func TestTSV(t *testing.T) {
	r := triples.TSV("g.tsv", strings.NewReader("\ufeffFram\tdesigned  by\tColin Archer\r\n\nFram\tdesigned by\nNansen\tcaptain of\t \nOslo\tcity of\tNorway"))
	want := []triples.Triple{
		{Head: same("Fram"), Relation: same("designed by"), Tail: same("Colin Archer")},
		{Head: same("Oslo"), Relation: same("city of"), Tail: same("Norway")},
	}
	check.Equal(t, read(t, r), want)
	if bad := r.Bad(); bad.Lines != 2 || fmt.Sprint(bad.First) != "[g.tsv:3: the line has 2 fields between tabs, want 3 g.tsv:4: tail: the name is empty]" {
		t.Errorf("%d bad lines: %v", bad.Lines, bad.First)
	}
}

// Things of one name stay apart by their ids, and one without a label has its id.
func TestWikidata5M(t *testing.T) {
	entities, bad, err := triples.ReadLabels("e", strings.NewReader("Q1\tParis\tCity of Light\nQ2\tParis\nQ3\n"))
	check.True(t, err == nil && bad.Lines == 1 && bad.First[0].Error() == "e:3: the line has an id and no name", "%v, %v", bad, err)
	relations, _, err := triples.ReadLabels("r", strings.NewReader("P31\tinstance of\tis a\n"))
	check.OK(t, err)
	got := read(t, triples.Wikidata5M("t", strings.NewReader("Q1\tP31\tQ9\nQ2\tP31\tQ9\n"), entities, relations))
	want := []triples.Triple{
		{Head: triples.Entity{ID: "Q1", Label: "Paris"}, Relation: triples.Entity{ID: "P31", Label: "instance of"}, Tail: same("Q9")},
		{Head: triples.Entity{ID: "Q2", Label: "Paris"}, Relation: triples.Entity{ID: "P31", Label: "instance of"}, Tail: same("Q9")},
	}
	check.Equal(t, got, want)
}

func TestJSONL(t *testing.T) {
	r := triples.JSONL("j", strings.NewReader(`{"h": "Fram", "r": "launched", "t": "1892", "literal": true}
{"h": {"id": "Q1", "label": "Paris"}, "r": "in", "t": {"id": "Q142"}}
{"h": 5, "r": "in", "t": "x"}
{"h": "Fram"
{"h": "Fram", "r": "in"}
`))
	want := []triples.Triple{
		{Head: same("Fram"), Relation: same("launched"), Tail: same("1892"), Literal: true},
		{Head: triples.Entity{ID: "Q1", Label: "Paris"}, Relation: same("in"), Tail: same("Q142")},
	}
	check.Equal(t, read(t, r), want)
	bad := r.Bad()
	check.True(t, bad.Lines == 3 && strings.Contains(bad.First[0].Error(), "want a name or"), "%d bad lines: %v", bad.Lines, bad.First)
}

//go:embed testdata/dump.nt
var dump string

func TestNTriples(t *testing.T) {
	labels, bad, err := triples.NTriplesLabels("n", strings.NewReader(dump), "en")
	check.True(t, err == nil && bad.Lines == 5 && labels["http://www.wikidata.org/entity/Q1"] == "Fram", "%v, %v, %v", labels, bad, err)
	r := triples.NTriples("n", strings.NewReader(dump), labels)
	got := read(t, r)
	want := []string{"Fram designed by Colin Archer", "Fram P571 1892-10-26T00:00:00Z", "Fram said a \"quoted\" name. And \U0001F6A2"}
	check.Equal(t, nameTable(got), want)
	check.True(t, !got[0].Literal && got[1].Literal && got[0].Tail.ID == "http://dbpedia.org/resource/Colin_Archer", "%+v", got)
	bad = r.Bad()
	check.Equal(t, bad.Lines, 5, "%d bad lines: %v", bad.Lines, bad.First)
	other, _, err := triples.NTriplesLabels("n", strings.NewReader(dump), "nb")
	check.True(t, err == nil && other["http://www.wikidata.org/entity/Q1"] == "Å bat", "%v, %v", other, err)
}

// What is right and what is not agrees with rdflib 7.
func TestNTriplesStrict(t *testing.T) {
	for line, want := range map[string][2]int{ // triples, bad lines
		`<a:s> <a:p> "x" .`:          {1, 0},
		`<a:s> <a:p> "x"@en-GB .`:    {1, 0},
		`<a:s> <a:p> "" .`:           {0, 0},
		`<a:s> <a:p> "x"@en--us .`:   {0, 1},
		`<a:s> <a:p> "x"@ .`:         {0, 1},
		`<a:s> _:p <a:o> .`:          {0, 1},
		`<a:s> <p> <a:o> .`:          {0, 1},
		`<http://x/a b> <a:p> "x" .`: {0, 1},
		"<a:s> <a:p> \"x\ry\" .":     {0, 1},
		`<a:s> <a:p> <a:o>`:          {0, 1},
	} {
		r := triples.NTriples("n", strings.NewReader(line), nil)
		got := [2]int{len(read(t, r)), r.Bad().Lines}
		check.Equal(t, got, want, "%s: %v triples and bad lines", line, got)
	}
}

// A file of which every tenth line is broken gives the others; names of 100 kB and
// lines without an end are not held.
func TestBadLines(t *testing.T) {
	var file strings.Builder
	for i := range 1000 {
		if i%10 == 3 {
			fmt.Fprintf(&file, "broken %d\n", i)
		} else {
			fmt.Fprintf(&file, "thing %d\tis\tthing %d\n", i, i+1)
		}
	}
	file.WriteString(strings.Repeat("x", 100_000) + "\tis\tlong\n")
	file.WriteString("\xff\tis\tno text\n")
	file.WriteString(strings.Repeat("y", 3<<20) + "\n")
	file.WriteString("the\tlast\tline")
	r := triples.TSV("g", strings.NewReader(file.String()))
	got := read(t, r)
	bad := r.Bad()
	if len(got) != 901 || bad.Lines != 103 || len(bad.First) != 10 || bad.First[0].Error() != "g:4: the line has 1 fields between tabs, want 3" {
		t.Errorf("%d triples, %d bad lines: %v", len(got), bad.Lines, bad.First)
	}
	check.Equal(t, got[len(got)-1].Text(), "the last line", "the last")
}

func TestGzip(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 1000 {
		fmt.Fprintf(z, "thing %d\tis\tthing %d\n", i, i*i)
	}
	check.OK(t, z.Close())
	whole := packed.Bytes()
	check.Equal(t, len(read(t, triples.TSV("g.gz", bytes.NewReader(whole)))), 1000, "triples of a packed file")
	var err error
	for _, err = range triples.TSV("g.gz", bytes.NewReader(whole[:len(whole)/2])).All() {
	}
	check.True(t, errors.Is(err, io.ErrUnexpectedEOF) && strings.HasPrefix(err.Error(), "g.gz:"), "half a packed file: %v", err)
	_, _, err = triples.ReadLabels("g.gz", bytes.NewReader([]byte{0x1f, 0x8b, 0}))
	check.True(t, err != nil, "a packed file of three bytes is read")
}

func FuzzReaders(f *testing.F) {
	f.Add([]byte(dump))
	f.Add([]byte("a\tb\tc\n{\"h\": \"a\"}\n<a> <b> \"\\u00\" ."))
	f.Fuzz(func(t *testing.T, data []byte) {
		labels, _, _ := triples.NTriplesLabels("f", bytes.NewReader(data), "en")
		for _, r := range []*triples.Reader{
			triples.TSV("f", bytes.NewReader(data)), triples.JSONL("f", bytes.NewReader(data)),
			triples.NTriples("f", bytes.NewReader(data), labels), triples.Wikidata5M("f", bytes.NewReader(data), labels, nil),
		} {
			for x, err := range r.All() {
				if err != nil {
					break
				}
				for _, e := range []triples.Entity{x.Head, x.Relation, x.Tail} {
					check.True(t, e.ID != "" && e.Label != "" && !strings.ContainsAny(e.Label, "\n\t") &&
						len(e.Label) <= triples.MaxLabel, "%q holds %q", data, e)
				}
			}
		}
	})
}

func source(list []triples.Triple) iter.Seq2[triples.Triple, error] {
	return func(yield func(triples.Triple, error) bool) {
		for _, t := range list {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// random are triples over few entities, some of them values, some circles.
func random(n int) (out []triples.Triple) {
	r := rand.New(rand.NewPCG(5, 6))
	for range n {
		e := func() triples.Entity {
			i := r.IntN(n/5 + 1)
			return triples.Entity{ID: fmt.Sprint("Q", i), Label: fmt.Sprint("thing ", i%(n/10+1))}
		}
		out = append(out, triples.Triple{Head: e(), Relation: triples.Entity{ID: "P1", Label: "is like"}, Tail: e(), Literal: r.IntN(4) == 0})
	}
	return out
}

// both makes an index in memory and one in a folder.
func both(t *testing.T, list []triples.Triple) map[string]*triples.Index {
	t.Helper()
	memory := check.Of(triples.New(t.Context(), source(list), triples.Options{})).OK(t)
	dir := filepath.Join(t.TempDir(), "index")
	check.OK(t, triples.Build(t.Context(), dir, source(list), triples.Options{}))
	folder := check.Of(triples.Open(dir, nil)).OK(t)
	t.Cleanup(func() { check.OK(t, folder.Close()) })
	return map[string]*triples.Index{"memory": memory, "folder": folder}
}

// What an index holds is what was read, and neighbors are those that a comparison of
// all with all finds.
func TestIndex(t *testing.T) {
	list := random(300)
	share := func(a, b triples.Triple) bool {
		for _, x := range ends(a) {
			if slices.Contains(ends(b), x) {
				return true
			}
		}
		return false
	}
	for name, ix := range both(t, list) {
		check.Must(t, ix.Len() == len(list), "%s: %d triples", name, ix.Len())
		for i := range list {
			if diff := cmp.Diff(list[i], ix.Triple(int32(i))); diff != "" {
				t.Fatal(name, diff)
			}
			var want []int32
			for j := range list {
				if i != j && share(list[i], list[j]) {
					want = append(want, int32(j))
				}
			}
			got := ix.Neighbors(int32(i), 1000, nil)
			slices.Sort(got)
			check.Must(t, slices.Equal(got, want),
				"%s: %v has the neighbors %v, want %v", name, list[i], got, want)
			few := ix.Neighbors(int32(i), 2, []int32{7})
			check.True(t, len(few) == min(3, len(want)+1) && few[0] == 7, "%s: two neighbors are %v", name, few)
		}
	}
}

// ends are the entities of a triple.
func ends(t triples.Triple) []string {
	if t.Literal {
		return []string{t.Head.ID}
	}
	return []string{t.Head.ID, t.Tail.ID}
}

func TestSearch(t *testing.T) {
	list := []triples.Triple{
		{Head: triples.Entity{ID: "Q1", Label: "Paris"}, Relation: same("capital of"), Tail: same("France")},
		{Head: triples.Entity{ID: "Q2", Label: "Paris"}, Relation: same("city in"), Tail: same("Texas")},
		{Head: same("Fram"), Relation: same("designed by"), Tail: same("Colin Archer")},
		{Head: same("Fram"), Relation: same("launched in"), Tail: same("1892"), Literal: true},
		{Head: same("Belgica"), Relation: same("bought in"), Tail: same("1892"), Literal: true},
	}
	for name, ix := range both(t, list) {
		var ids []int32
		for _, hit := range ix.Search("which ship did Colin Archer design?", 3, nil) {
			ids = append(ids, hit.ID)
		}
		check.Equal(t, ids, []int32{2}, "%s: found", name)
		got := ix.Words().Search("Fram, Belgica: 1892", 2, nil)
		check.True(t, len(got) == 2 && got[0].ID == 4 && got[1].ID == 3, "%s: by words, found %v", name, got)
		if got := ix.Neighbors(0, 10, nil); len(got) != 0 {
			t.Errorf("%s: two things of one name are neighbors: %v", name, got)
		}
		check.Equal(t, ix.Neighbors(3, 10, nil), []int32{2}, "%s: neighbors of a launch", name)
		whole := ix.Whole("Colin Archer")
		check.True(t, whole > 0, "%s: a whole triple is worth %g", name, whole)
	}
}

// The index in a folder finds what the one in memory finds.
func TestFolder(t *testing.T) {
	list := random(5000)
	found := map[string][]rank.Scored[int32]{}
	for name, ix := range both(t, list) {
		found[name] = ix.Search("a thing like thing 77", 50, nil)
	}
	diff := cmp.Diff(found["memory"], found["folder"])
	check.True(t, diff == "" && len(found["folder"]) == 50, "%v", diff)
}

// A hub of a million triples costs no more than what is asked for.
func TestHub(t *testing.T) {
	var list []triples.Triple
	for i := range 1_000_000 {
		list = append(list, triples.Triple{Head: same("human"), Relation: same("class of"), Tail: same(fmt.Sprint("person ", i))})
	}
	list = append(list, triples.Triple{Head: same("person 77"), Relation: same("child of"), Tail: same("person 5")})
	ix := check.Of(triples.New(t.Context(), source(list), triples.Options{})).OK(t)
	dst := make([]int32, 0, 8)
	check.Equal(t, ix.Neighbors(77, 3, dst), []int32{1_000_000, 0, 1}, "neighbors of a hub's triple")
	check.Equal(t, testing.AllocsPerRun(10, func() { dst = ix.Neighbors(77, 3, dst[:0]) }), 0, "allocations")
}

func TestBadFolders(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	list := random(50)
	check.OK(t, triples.Build(t.Context(), at("good"), source(list), triples.Options{}))
	err := triples.Build(t.Context(), at("good"), source(list), triples.Options{})
	check.Fails(t, err, "already", "building over another")
	broken := errors.New("broken")
	fails := func(yield func(triples.Triple, error) bool) {
		_ = yield(list[0], nil) && yield(triples.Triple{}, broken)
	}
	check.Is(t, triples.Build(t.Context(), at("half"), fails, triples.Options{}), broken, "a source that fails")
	_, err = triples.Open(at("half"), nil)
	check.True(t, errors.Is(err, triples.ErrFolder) && strings.Contains(err.Error(), "never finished"), "a half folder: %v", err)
	// A build that was killed leaves parts, too; the next one begins anew.
	check.OK(t, os.MkdirAll(filepath.Join(at("half"), "parts", "0"), 0o755))
	err = triples.Build(t.Context(), at("half"), source(list), triples.Options{})
	check.True(t, err == nil, "again: %v", err)
	check.OK(t, os.Truncate(filepath.Join(at("half"), "small"), 16))
	_, err = triples.Open(at("half"), nil)
	check.True(t, errors.Is(err, triples.ErrFolder) && strings.Contains(err.Error(), "small"), "a cut folder: %v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, triples.Build(ctx, at("stopped"), source(list), triples.Options{}), context.Canceled, "cancelled")
	for name, ix := range both(t, nil) {
		check.True(t, ix.Len() == 0 && len(ix.Search("anything", 3, nil)) == 0, "%s: an empty index is not", name)
	}
}

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
		check.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
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
	check.OK(t, triples.Build(t.Context(), folders[1], triples.Files(filepath.Join(dir, "a.nt"), &triples.Bad{}), triples.Options{}))
	for _, path := range append(folders, filepath.Join(dir, "a.tsv"), filepath.Join(dir, "a.tsv.gz"), filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "a.nt")) {
		ix, err := triples.Load(t.Context(), path, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if ix.Len() != 1 || ix.Triple(0).Text() != "Vienna capital of Austria" {
			t.Errorf("%s: %d triples, the first is %q", path, ix.Len(), ix.Triple(0).Text())
		}
		err = ix.Close()
		check.OK(t, err)
	}
}

// What is no graph of the format that its name claims is refused with the line and the remedy.
func TestLoadRefuses(t *testing.T) {
	dir := tree(t, map[string]string{
		"rows.tsv": "a\tb\nVienna\tcapital of\tAustria\nc\td\n", "empty.tsv": "", "a.xml": "<rdf/>",
		"labels.nt": strings.Join(strings.SplitAfter(labelledNT, "\n")[:2], ""), "a.json.jsonl": "[1,2]\n",
	})
	whole, err := os.ReadFile(filepath.Join(tree(t, map[string]string{"a.tsv.gz": strings.Repeat("Vienna\tcapital of\tAustria\n", 1000)}), "a.tsv.gz"))
	check.OK(t, err)
	check.OK(t, os.WriteFile(filepath.Join(dir, "cut.tsv.gz"), whole[:len(whole)-12], 0o600))
	nameless := tree(t, map[string]string{"all_triplet.txt": "Q1\tP36\tQ2\n"})
	for path, want := range map[string]string{
		filepath.Join(dir, "rows.tsv"):     "rows.tsv:1: the line has 2 fields between tabs, want 3",
		filepath.Join(dir, "empty.tsv"):    "no triple of named entities",
		filepath.Join(dir, "labels.nt"):    "no triple of named entities",
		filepath.Join(dir, "a.xml"):        "want a file whose name ends in .tsv, .jsonl or .nt",
		filepath.Join(dir, "a.json.jsonl"): "a.json.jsonl:1: ",
		filepath.Join(dir, "cut.tsv.gz"):   "unexpected EOF",
		filepath.Join(dir, "none.tsv"):     "no such file",
		dir:                                "build it again",
		nameless:                           "no file with entity in its name",
	} {
		check.Fails(t, check.Err(triples.Load(t.Context(), path, nil)), want, "%s", path)
	}
}
