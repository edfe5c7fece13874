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
	notes := filepath.Join(dir, "notes")
	if err := os.Mkdir(notes, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(notes, "owls.md"), []byte("Barn owls hunt by ear. They hear mice under the snow."), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", "-buildvcs=false", "-overlay", list, "../examples/readme", notes, "How do barn owls hunt?").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Barn owls hunt by ear.") || !strings.Contains(string(out), "owls.md") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Links between documents lead somewhere, and every picture is in one.
func TestLinks(t *testing.T) {
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	pictures, err := filepath.Glob("img/*")
	if err != nil || len(pictures) == 0 {
		t.Fatal(pictures, err)
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
			pictures = slices.DeleteFunc(pictures, func(p string) bool { return p == filepath.Join(filepath.Dir(file), link) || "docs/"+p == link })
		}
	}
	if len(pictures) > 0 {
		t.Errorf("no document shows %s", pictures)
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
