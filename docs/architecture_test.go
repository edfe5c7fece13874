// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/internal/check"
)

const module = "github.com/wildgraph/wildgraph/"

// layer is the place of a package in the table of architecture.md: the number of its layer, and its place among
// all.
type layer struct{ layer, row int }

// readLayers reads the rows "| layer | `package`, … |" of architecture.md, lowest layer first. A package named
// NAME/* is all below NAME that have no place of their own.
func readLayers(t *testing.T) map[string]layer {
	t.Helper()
	text := check.Of(os.ReadFile("architecture.md")).OK(t)
	layers := make(map[string]layer)
	number := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.HasPrefix(strings.TrimSpace(cells[2]), "`") {
			continue
		}
		number++
		for name := range strings.SplitSeq(cells[2], ",") {
			pkg := strings.Trim(strings.TrimSpace(name), "`")
			_, ok := layers[pkg]
			check.True(t, !ok, "architecture.md lists %s twice", pkg)
			layers[pkg] = layer{number, len(layers)}
		}
	}
	return layers
}

// rowOf returns the package's own row in the table, or the pattern it falls under.
func rowOf(layers map[string]layer, pkg string) (string, bool) {
	for _, name := range []string{pkg, path.Dir(pkg) + "/*"} {
		if _, ok := layers[name]; ok {
			return name, true
		}
	}
	return "", false
}

type listed struct {
	ImportPath    string
	Imports, Deps []string
}

// listPackages lists the module once.
var listPackages = sync.OnceValue(func() (packages []listed) {
	out, err := exec.Command("go", "list", "-buildvcs=false", "-json=ImportPath,Imports,Deps", "../...").Output()
	for dec := json.NewDecoder(bytes.NewReader(out)); err == nil; {
		var p listed
		if err = dec.Decode(&p); err == nil {
			packages = append(packages, p)
		}
	}
	if !errors.Is(err, io.EOF) {
		panic(err)
	}
	return packages
})

// Imports go to lower layers, or to packages before in the same layer.
func TestImportsFollowTheLayers(t *testing.T) {
	check.Long(t)
	layers := readLayers(t)
	seen := make(map[string]bool)
	for _, p := range listPackages() {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		if pkg == "docs" || strings.HasPrefix(pkg, "docs/") { // tests and measurements may import anything
			continue
		}
		from, ok := rowOf(layers, pkg)
		if !ok {
			t.Errorf("%s has no row in architecture.md", pkg)
			continue
		}
		seen[from] = true
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			to, _ := rowOf(layers, strings.TrimPrefix(imp, module))
			a, b := layers[from], layers[to]
			if a.layer < b.layer || a.layer == b.layer && a.row < b.row {
				t.Errorf("%s imports %s, against architecture.md", pkg, strings.TrimPrefix(imp, module))
			}
		}
	}
	for name := range layers {
		check.True(t, seen[name], "architecture.md lists %s, which does not exist", name)
	}
}

// A program that only asks models links no package that sends, and one that imports retrieval, the judges or
// the benchmark links no vendor's client.
func TestNobodyLinksWhatSends(t *testing.T) {
	check.Long(t)
	for _, p := range listPackages() {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		for _, d := range p.Deps {
			sends := pkg == "llm" && (d == "net/http" || strings.Contains(d, "backoff") || strings.HasPrefix(d, "golang.org/x/time"))
			vendor := pkg != "llm/langchain" && !strings.HasPrefix(pkg, "examples/") && strings.HasPrefix(d, "github.com/tmc/langchaingo")
			check.True(t, !sends && !vendor, "%s links %s", pkg, d)
		}
	}
}

// fenced returns the first code block of a language in a document.
func fenced(t *testing.T, document, language string) string {
	t.Helper()
	_, rest, _ := strings.Cut(string(check.Of(os.ReadFile(document)).OK(t)), "```"+language+"\n")
	block, _, ok := strings.Cut(rest, "```")
	check.Must(t, ok, "%s has no block of %s", document, language)
	return block
}

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	all, dir := make(fstest.MapFS), t.TempDir()
	for name, text := range files {
		all[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	check.OK(t, os.CopyFS(dir, all))
	return dir
}

// The README's program runs as printed: an overlay puts it into the module without writing a file there.
func TestReadmeProgram(t *testing.T) {
	check.Long(t)
	place, dir, empty := check.Of(filepath.Abs("../examples/readme/main.go")).OK(t), folder(t, map[string]string{"main.go": fenced(t, "../README.md", "go")}), t.TempDir()
	overlay := check.Of(json.Marshal(map[string]map[string]string{"Replace": {place: filepath.Join(dir, "main.go")}})).OK(t)
	list, bin := filepath.Join(folder(t, map[string]string{"overlay.json": string(overlay)}), "overlay.json"), filepath.Join(dir, "program")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-overlay", list, "-o", bin, "../examples/readme").CombinedOutput()
	check.OK(t, err, "%v\n%s", err, out)
	const office = "../examples/ask/testdata/office/docs"
	for _, tt := range []struct {
		folder, question, want string
		fails                  bool
	}{
		{office, "When is the deposit of Kari Foss paid back?", "within thirty days", false},
		{office, "When is the deposit of Olav Berge paid back?", "within thirty days", false},
		{office, "zzz?", "", false},
		{empty, "zzz?", "no file that can be read", true},
	} {
		out, err := exec.CommandContext(t.Context(), bin, tt.folder, tt.question).CombinedOutput()
		check.True(t, (err != nil) == tt.fails && strings.Contains(string(out), tt.want) &&
			!strings.Contains(string(out), "panic"), "%s: %v\n%s", tt.question, err, out)
		said, files, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		if tt.fails || tt.want == "" {
			continue
		}
		for name := range strings.FieldsSeq(files) { // each of the files contains the source that is cited for it
			text, err := os.ReadFile(filepath.Join(office, name))
			if flat := strings.Join(strings.Fields(string(text)), " "); err != nil || !strings.Contains(flat, tt.want) || !strings.Contains(flat, strings.TrimSuffix(strings.Fields(tt.question)[6], "?")) {
				t.Errorf("%s: %q cites %s, %v", tt.question, said, name, err)
			}
		}
		check.True(t, files != "", "%s: %q cites nothing", tt.question, said)
	}
}

// Links between documents have targets, and every picture is shown in a document.
func TestLinks(t *testing.T) {
	files, pictures := check.Of(filepath.Glob("*.md")).OK(t), check.Of(filepath.Glob("img/*")).OK(t)
	for _, file := range append(files, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md") {
		text := check.Of(os.ReadFile(file)).OK(t)
		for _, part := range strings.Split(string(text), "](")[1:] {
			link, _, _ := strings.Cut(part, ")")
			link, _, _ = strings.Cut(link, "#")
			if link == "" || strings.Contains(link, "://") {
				continue
			}
			check.True(t, check.Err(os.Stat(filepath.Join(filepath.Dir(file), link))) == nil,
				"%s links to %s, which does not exist", file, link)
			pictures = slices.DeleteFunc(pictures, func(p string) bool { return p == filepath.Join(filepath.Dir(file), link) || "docs/"+p == link })
		}
	}
	check.True(t, len(pictures) == 0, "no document shows %s", pictures)
}

var (
	namedTest = regexp.MustCompile(`\b([a-z0-9]+)\.(Test[A-Za-z0-9]+)`)
	testFunc  = regexp.MustCompile(`(?m)^([^:]+):func (Test[A-Za-z0-9]+)\(`)
)

// The table of the papers' items has 72 rows, each of which names existing tests. For each row a test was seen
// to fail when a formula of the row was broken.
func TestFidelity(t *testing.T) {
	table := check.Of(os.ReadFile("fidelity.md")).OK(t)
	out, err := exec.CommandContext(t.Context(), "git", "grep", "-h", "--no-color", "-E", "--full-name", "-H", "^func Test", "--", "../*_test.go").Output()
	if err != nil {
		t.Skip("no checkout: ", err)
	}
	mutants := check.Of(os.ReadFile("../.ci/mutants.tsv")).OK(t)
	there := make(map[string]bool)
	for _, m := range testFunc.FindAllStringSubmatch(string(out), -1) {
		there[path.Base(path.Dir(m[1]))+"."+m[2]] = true
	}
	rows := 0
	for line := range strings.Lines(string(table)) {
		if !strings.Contains(line, "| ● |") && !strings.Contains(line, "| ◐ |") && !strings.Contains(line, "| ○ |") {
			continue
		}
		rows++
		named := namedTest.FindAllStringSubmatch(line, -1)
		for _, m := range named {
			check.True(t, there[m[0]], "there is no test %s", m[0])
		}
		if !slices.ContainsFunc(named, func(m []string) bool { return strings.Contains(string(mutants), "\t"+m[0]+"\t") }) {
			t.Errorf("no line of .ci/mutants.tsv breaks a formula that one of its tests watches: %s", line)
		}
	}
	check.Equal(t, rows, 72, "rows")
}
