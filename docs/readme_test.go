// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The program in the README runs as it stands there.
func TestReadmeProgram(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```go\n")
	program, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("README.md has no program")
	}
	// An overlay puts the program into the module without touching it.
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	place, err := filepath.Abs("../examples/readme/main.go")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {place: file}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	bin, empty := filepath.Join(dir, "program"), filepath.Join(dir, "empty")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-overlay", list, "-o", bin, "../examples/readme").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
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
		if (err != nil) != tt.fails || !strings.Contains(string(out), tt.want) || strings.Contains(string(out), "panic") {
			t.Errorf("%s: %v\n%s", tt.question, err, out)
		}
		said, files, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		if tt.fails || tt.want == "" {
			continue
		}
		for name := range strings.FieldsSeq(files) { // each source holds what it is cited for
			text, err := os.ReadFile(filepath.Join(office, name))
			if flat := strings.Join(strings.Fields(string(text)), " "); err != nil || !strings.Contains(flat, tt.want) || !strings.Contains(flat, strings.TrimSuffix(strings.Fields(tt.question)[6], "?")) {
				t.Errorf("%s: %q cites %s, %v", tt.question, said, name, err)
			}
		}
		if files == "" {
			t.Errorf("%s: %q cites nothing", tt.question, said)
		}
	}
}

// Links between documents lead somewhere.
func TestLinks(t *testing.T) {
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "](")[1:] {
			link, _, _ := strings.Cut(part, ")")
			link, _, _ = strings.Cut(link, "#")
			if link == "" || strings.Contains(link, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), link)); err != nil {
				t.Errorf("%s links to %s, which does not exist", file, link)
			}
		}
	}
}

var (
	namedTest = regexp.MustCompile(`\b([a-z0-9]+)\.(Test[A-Za-z0-9]+)`)
	testFunc  = regexp.MustCompile(`(?m)^([^:]+):func (Test[A-Za-z0-9]+)\(`)
)

// The table of the papers' items has 72 rows, each of which names a command, or tests that are
// there; one of them failed when a formula of the row was broken.
func TestFidelity(t *testing.T) {
	table, err := os.ReadFile("fidelity.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "git", "grep", "-h", "--no-color", "-E", "--full-name", "-H", "^func Test", "--", "../*_test.go").Output()
	if err != nil {
		t.Skip("no checkout: ", err)
	}
	mutants, err := os.ReadFile("../.ci/mutants.tsv")
	if err != nil {
		t.Fatal(err)
	}
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
			if !there[m[0]] {
				t.Errorf("there is no test %s", m[0])
			}
		}
		if len(named) > 0 && !strings.Contains(line, "| ○ |") && !slices.ContainsFunc(named, func(m []string) bool { return strings.Contains(string(mutants), "\t"+m[0]+"\t") }) {
			t.Errorf("no line of .ci/mutants.tsv breaks a formula that one of its tests watches: %s", line)
		}
		if len(named) == 0 && !strings.Contains(line, "`") && !strings.Contains(line, "| ○ |") {
			t.Errorf("nothing shows %s", line)
		}
	}
	if rows != 72 {
		t.Errorf("%d rows, want 72", rows)
	}
}
