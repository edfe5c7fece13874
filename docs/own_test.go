// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/foreign"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/graphrag/pages"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
)

// mine is a RAG of the caller: it reads the page that shares most words with the question.
type mine struct{ pages []graphrag.Document }

func (m *mine) Index(_ context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	for d, err := range docs {
		if err != nil {
			return graphrag.IndexStats{}, err
		}
		m.pages = append(m.pages, d)
	}
	return graphrag.IndexStats{Documents: len(m.pages)}, nil
}

func (m *mine) Answer(_ context.Context, q graphrag.Question) (graphrag.Answer, error) {
	best, most := 0, -1
	for i, page := range m.pages {
		shared := 0
		for _, w := range strings.Fields(strings.ToLower(q.Text)) {
			shared += strings.Count(strings.ToLower(page.Text), w)
		}
		if shared > most {
			best, most = i, shared
		}
	}
	page := m.pages[best]
	hits := []graphrag.Hit{{Chunk: graphrag.Chunk{ID: page.ID, Doc: page.ID, Text: page.Text}, Score: 1}}
	return graphrag.Answer{Text: page.Text, Found: graphrag.Found{Ranked: hits, Evidence: hits}}, nil
}

func (m *mine) Close() error { return nil }

// A system of the caller on data of the caller.
func Example_own() {
	ctx := context.Background()
	docs := fstest.MapFS{ // for a folder on disk use os.DirFS(dir)
		"owls.md":   {Data: []byte("Barn owls hunt by ear.")},
		"otters.md": {Data: []byte("Sea otters sleep in kelp.")},
	}
	set, err := own.Load(ctx, "mine.jsonl", strings.NewReader(
		`{"question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}
		 {"question": "Where do sea otters sleep?", "answer": "In kelp.", "gold": ["otters.md"]}`), docs, load.Options{})
	if err != nil {
		panic(err)
	}
	judged, _ := lexical.New(judge.Options{})
	runner := benchmark.Runner{Dataset: set, Judge: judged, Systems: []benchmark.Entry{
		{Name: "mine", New: func(string) (benchmark.System, error) { return &mine{}, nil }},
	}}
	run, err := runner.Run(ctx) // resumes if Options.Dir is set
	if err != nil {
		panic(err)
	}
	r, err := report.New(run) // report.Write(dir, run) writes the report's folder
	if err != nil {
		panic(err)
	}
	all := r.Systems[0].Overall.Types[benchmark.All]
	for _, key := range []string{"accuracy", "evidence_recall_at_5"} {
		v, _ := all.Figure(key)
		fmt.Println(key, v)
	}
	// Output:
	// accuracy 1
	// evidence_recall_at_5 1
}

// The guide to judges prints the test of this file.
func TestGuides(t *testing.T) {
	code, source := fenced(t, "judge.md", "go"), check.Of(os.ReadFile("judge_test.go")).OK(t)
	check.True(t, len(code) >= 400 && strings.Contains(string(source), strings.TrimSpace(code)), "the Go code of judge.md is not that of judge_test.go")
}

// The Python test of own-data.md runs as printed: it passes on right answers, and reports wrong ones.
func TestPython(t *testing.T) {
	check.Long(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	tool := filepath.Join(t.TempDir(), "wildgraphbench")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", tool, "../examples/wildgraphbench").CombinedOutput()
	check.OK(t, err, "%v\n%s", err, out)
	t.Setenv("PATH", filepath.Dir(tool)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, tt := range []struct{ owls, want string }{
		{"They hunt by ear.", "OK"},
		{"By smell.", "accuracy of mine is 0.5000, below 0.9\n  1: How do barn owls hunt?: 0, "},
	} {
		dir := folder(t, map[string]string{
			"test_answers.py": fenced(t, "own-data.md", "python"),
			"mine.jsonl":      `{"question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}` + "\n" + `{"question": "Où dorment les loutres ?", "answer": "In kelp."}` + "\n",
			"rag.py":          fmt.Sprintf("def answer(question):\n    return %q if 'owls' in question else 'In kelp.'\n", tt.owls),
		})
		run := exec.Command(python, "-B", "-m", "unittest", "test_answers")
		run.Dir = dir
		out, err := run.CombinedOutput()
		check.True(t, (err == nil) == (tt.want == "OK") && strings.Contains(string(out), tt.want), "%s: %v\n%s", tt.owls, err, out)
		cases, err := os.ReadFile(filepath.Join(dir, "junit.xml"))
		check.True(t, err == nil && strings.Count(string(cases), "<testcase ") == 2, "%v: %s", err, cases)
	}
}

// A finished index of LightRAG is searched by another recipe, without a model.
func Example_foreign() {
	ctx := context.Background()
	folder := fstest.MapFS{ // os.DirFS("rag_storage") on disk
		"kv_store_text_chunks.json": {Data: []byte(`{
			"chunk-1": {"content": "Colin Archer built the Fram for Fridtjof Nansen.", "file_path": "fram.txt"},
			"chunk-2": {"content": "Larvik is a town in the south of Norway.", "file_path": "larvik.txt"}}`)},
		"graph_chunk_entity_relation.graphml": {Data: []byte(`<graphml>
			<key id="d0" for="node" attr.name="description"/><key id="d1" for="node" attr.name="source_id"/>
			<key id="d2" for="edge" attr.name="description"/><key id="d3" for="edge" attr.name="source_id"/>
			<graph>
			<node id="Colin Archer"><data key="d0">A builder of ships from Larvik.</data><data key="d1">chunk-1</data></node>
			<node id="Larvik"><data key="d0">A town in Norway.</data><data key="d1">chunk-2</data></node>
			<edge source="Colin Archer" target="Larvik"><data key="d2">Colin Archer was born in Larvik.</data><data key="d3">chunk-2</data></edge>
			</graph></graphml>`)},
	}
	index, err := foreign.ReadLightRAG(folder)
	if err != nil {
		panic(err)
	}
	parts, _ := kit.Offline(kit.OfflineOptions{})
	system, err := lightrag.New(parts, lightrag.Options{Mode: lightrag.Mix, Extract: index, Cosine: lightrag.NoCosine})
	if err != nil {
		panic(err)
	}
	if _, err := system.Index(ctx, index.Documents()); err != nil {
		panic(err)
	}
	found, err := system.Retrieve(ctx, graphrag.Question{Text: "Where was Colin Archer born?", K: 2})
	if err != nil {
		panic(err)
	}
	for _, d := range found.Derived {
		fmt.Println(d.Text)
	}
	for _, hit := range found.Read(graphrag.Question{K: 2}) {
		fmt.Println(hit.Chunk.Title)
	}
	// Output:
	// Colin Archer: A builder of ships from Larvik.
	// Larvik: A town in Norway.
	// Colin Archer – Larvik: Colin Archer was born in Larvik.
	// fram.txt
	// larvik.txt
}

// filled repeats a unit to about n bytes between a head and a tail.
func filled(head, unit, tail string) func(n int) []byte {
	return func(n int) []byte { return []byte(head + strings.Repeat(unit, n/len(unit)) + tail) }
}

// numbered repeats a unit with its number.
func numbered(head, unit, tail string) func(n int) []byte {
	return func(n int) []byte {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, unit, i)
		}
		return []byte(b.String() + tail)
	}
}

// nested opens a unit many times and closes it as often.
func nested(open, inside, end string) func(n int) []byte {
	return func(n int) []byte {
		k := n / (len(open) + len(end))
		return []byte(strings.Repeat(open, k) + inside + strings.Repeat(end, k))
	}
}

// growing has a unit, a mark behind it, the unit twice, and so on.
func growing(unit, mark string) func(n int) []byte {
	return func(n int) []byte {
		var b strings.Builder
		for i := 1; b.Len() < n; i++ {
			b.WriteString(strings.Repeat(unit, i) + mark)
		}
		return []byte(b.String())
	}
}

// read reads a file, finds its blocks, and cuts it as a system does.
func read(name string) func([]byte) error {
	return func(data []byte) error {
		f, err := load.Options{Formats: office.Formats()}.Read(name, data)
		if err != nil {
			return nil // refused is well, too
		}
		f.Blocks()
		f.Place(len(f.Document.Text))
		return cut(f.Document)
	}
}

func cut(d graphrag.Document) error {
	c, err := chunk.New(chunk.Options{Lead: load.Lead})
	if err != nil {
		return err
	}
	_, err = c.Document(context.Background(), d)
	return err
}

// What a file makes a reader do grows with the file, and no faster: each is fed the worst that is
// known for it, 16 times as long.
func TestSlopes(t *testing.T) {
	check.Long(t)
	page := func(data []byte) error {
		_, err := pages.Cut(context.Background(), []graphrag.Document{{ID: "a", Text: string(data)}}, pages.CutOptions{})
		return err
	}
	sentences := func(data []byte) error {
		s, err := chunk.Sentences(chunk.SentenceOptions{MaxTokens: 100})
		if err == nil {
			_, err = s.Split(context.Background(), string(data))
		}
		return err
	}
	count := func(data []byte) error { tokens.Cl100k().Count(string(data)); return nil }
	lines := func(of func(io.Reader) *triples.Reader) func([]byte) error {
		return func(data []byte) error {
			for _, err := range of(bytes.NewReader(data)).All() {
				if err != nil {
					return nil // refused is well, too
				}
			}
			return nil
		}
	}
	nt := lines(func(r io.Reader) *triples.Reader { return triples.NTriples("a", r, nil) })
	// packed is an archive of names and contents in turn, the last one as often as fits; it is given
	// its root, so that what is repeated may be cut.
	packed := func(of ...string) func(int) []byte {
		return func(n int) []byte {
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			for i := 0; i < len(of); i += 2 {
				content := of[i+1]
				if last := i+2 == len(of); last {
					content = "<x>" + strings.Repeat(content, n/len(content))
				}
				w, err := z.Create(of[i])
				if err == nil {
					_, err = io.WriteString(w, content)
				}
				check.OK(t, err)
			}
			check.OK(t, z.Close())
			return b.Bytes()
		}
	}
	light := func(data []byte) error {
		_, err := foreign.ReadLightRAG(fstest.MapFS{
			"graph_chunk_entity_relation.graphml": {Data: data},
			"kv_store_text_chunks.json":           {Data: []byte(`{"c": {"content": "A built B.", "full_doc_id": "d"}}`)},
		})
		return err
	}
	type slope struct {
		name string
		make func(int) []byte
		work func([]byte) error
	}
	slopes := []slope{
		{"csv header", func(n int) []byte {
			return []byte(strings.Repeat("h", n/2) + ",b\n" + strings.Repeat("1,2\n", n/8))
		}, read("a.csv")},
		{"csv columns", func(n int) []byte {
			return []byte(strings.Repeat("a,", n/8) + "\n" + strings.Repeat(strings.Repeat("1,", 50)+"\n", n/200))
		}, read("a.csv")},
		{"json long key", func(n int) []byte {
			return []byte(`{"` + strings.Repeat("k", n/2) + `":[` + strings.Repeat("1,", n/4) + "1]}")
		}, read("a.json")},
		{"html formatting", numbered("", "<b a=%d>", strings.Repeat("<p>x", small)), read("a.html")},
		{"md wide", func(n int) []byte {
			return []byte(strings.Repeat("|a", n/4) + "|\n" + strings.Repeat("|-", n/4) + "|\n" + strings.Repeat("|x\n", n/8))
		}, read("a.md")},
		{"docx", packed("word/document.xml", "<p><r><t>x</t></r></p>"), read("a.docx")},
		{"docx raised", packed("word/document.xml", "<p><r><rPr><vertAlign val='superscript'/></rPr><t>1</t></r><r><rPr><vertAlign val='subscript'/></rPr><t>2</t></r></p>"), read("a.docx")},
		{"docx formulas", packed("word/document.xml", "<p><f><num><t>1</t></num><den><f><num><t>1</t></num><den/></f></den></f>"), read("a.docx")},
		{"docx boxes", packed("word/document.xml", "<p><txbxContent><p><t>1</t></p></txbxContent></p>"), read("a.docx")},
		{"docx numbers", packed("word/numbering.xml", "<abstractNum abstractNumId='0'><lvl ilvl='8'><lvlText val='%1%2%3%4%5%6%7%8%9'/></lvl></abstractNum><num numId='1'><abstractNumId val='0'/></num>",
			"word/document.xml", "<p><pPr><numPr><ilvl val='8'/><numId val='1'/></numPr></pPr><t>1</t></p>"), read("a.docx")},
		{"xlsx rows", packed("xl/workbook.xml", "<workbook><sheet r:id='a'/>", "xl/_rels/workbook.xml.rels", "<r><Relationship Id='a' Target='a.xml' Type='worksheet'/></r>",
			"xl/a.xml", "<row r='1'><c r='DX1'><v>1</v></c></row><row r='3'><c><v>x</v></c><c><v>y</v></c></row>"), read("a.xlsx")},
		{"xlsx merged", packed("xl/workbook.xml", "<workbook><sheet r:id='a'/>", "xl/_rels/workbook.xml.rels", "<r><Relationship Id='a' Target='a.xml' Type='worksheet'/></r>",
			"xl/a.xml", "<row><c><v>x</v></c><c><v>y</v></c></row><mergeCell ref='A1:XFD9999999'/>"), read("a.xlsx")},
		{"xlsx sheets", packed("xl/_rels/workbook.xml.rels", "<r><Relationship Id='a' Target='a.xml' Type='worksheet'/></r>",
			"xl/a.xml", "<row><c><v>1</v></c></row>", "xl/workbook.xml", "<sheet name='a' r:id='a'/>"), read("a.xlsx")},
		{"pptx slides", packed("ppt/_rels/presentation.xml.rels", "<r><Relationship Id='a' Target='a.xml'/></r>",
			"ppt/a.xml", "<sp><p><t>x</t></p></sp>", "ppt/presentation.xml", "<sldId r:id='a'/>"), read("a.pptx")},
		{"pptx titles", packed("ppt/presentation.xml", "<p><sldId r:id='a'/>", "ppt/_rels/presentation.xml.rels", "<r><Relationship Id='a' Target='a.xml'/></r>",
			"ppt/a.xml", "<sp><ph type='title'/><p><t>x</t></p></sp>"), read("a.pptx")},
		{"odt", packed("content.xml", "<p>x<s/></p><list><list-item><p>x</p></list-item></list>"), read("a.odt")},
		{"odt tables", packed("content.xml", "<table><table-row><table-cell number-columns-spanned='128'><p>x</p></table-cell><table-cell/></table-row></table>"), read("a.odt")},
		{"odt row", packed("content.xml", "<table-row/><table-cell><p>x</p></table-cell>"), read("a.odt")},
		{"epub pages", packed("META-INF/container.xml", "<c><rootfile full-path='b'/>", "a", "<p>x", "b", "<item id='a' href='a'/><itemref idref='a'/>"), read("a.epub")},
		{"epub authors", packed("META-INF/container.xml", "<c><rootfile full-path='b'/>", "b", "<creator>x</creator><keywords>a,b</keywords>"), read("a.epub")},
		{"eml attached", filled("Content-Type: multipart/mixed; boundary=b\n\n", "--b\nContent-Disposition: attachment; filename="+strings.Repeat("a", 1<<10)+"\n\n", ""), read("a.eml")},
		{"triples jsonl", numbered("", "[\"a\",\"b\",\"c%d\"]\n", ""), lines(func(r io.Reader) *triples.Reader { return triples.JSONL("a", r) })},
		{"triples tabs", filled("", "\t", ""), lines(func(r io.Reader) *triples.Reader { return triples.TSV("a", r) })},
		{"triples bad", filled("", "x\n", ""), lines(func(r io.Reader) *triples.Reader { return triples.TSV("a", r) })},
		{"graphml nodes", numbered("<graphml><graph>", "<node id=\"a%d\"/>", "</graph></graphml>"), light},
		{"graphml keywords", numbered(
			`<graphml><key id="k" for="edge" attr.name="keywords"/><key id="s" for="edge" attr.name="source_id"/>`+
				`<graph><node id="A"/><node id="B"/><edge source="A" target="B"><data key="s">c</data><data key="k">`,
			"k%d,", "</data></edge></graph></graphml>"), light},
	}
	shapes := map[string]func(of ...string) func(int) []byte{
		"filled":   func(of ...string) func(int) []byte { return filled(of[0], of[1], of[2]) },
		"nested":   func(of ...string) func(int) []byte { return nested(of[0], of[1], of[2]) },
		"numbered": func(of ...string) func(int) []byte { return numbered(of[0], of[1], of[2]) },
		"growing":  func(of ...string) func(int) []byte { return growing(of[0], of[1]) },
	}
	works := map[string]func([]byte) error{"count": count, "sentences": sentences, "page": page, "nt": nt}
	for _, row := range check.Rows(t, "testdata/slopes.txt") { // name, work or file, shape and its texts
		work := works[row[1]]
		if work == nil {
			work = read(row[1])
		}
		slopes = append(slopes, slope{row[0], shapes[row[2]](row[3:]...), work})
	}
	for _, tt := range slopes {
		t.Run(tt.name, func(t *testing.T) {
			fault := ""
			for range 3 { // other work of the machine may take the time of one
				least, took := spent(t, tt.work, tt.make(small))
				bytes, long := spent(t, tt.work, tt.make(large))
				switch {
				case bytes > most*least && bytes > 8<<20:
					fault = fmt.Sprintf("%d bytes of input take %d bytes of memory, %d take %d", small, least, large, bytes)
				case long > most*2*took && long > 2*time.Second: // of a quadratic reader 16 times as long again
					fault = fmt.Sprintf("%d bytes of input take %v, %d take %v", small, took, large, long)
				default:
					return
				}
			}
			t.Error(fault)
		})
	}
}

// Inputs are doubled four times, and by a doubling work grows by 2.5 at most.
const (
	small = 1 << 14
	large = small << 4
	most  = 39
)

// spent is what a piece of work allocates, and how long it takes.
func spent(t *testing.T, work func([]byte) error, data []byte) (bytes uint64, took time.Duration) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	check.OK(t, work(data))
	took = time.Since(start)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}
