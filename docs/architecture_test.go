// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/wildgraph/wildgraph/"

// house is the table of floors in architecture.md: the floor of a package,
// and its place in the row it stands in. A row is a chain in which a package
// may import those to its left.
type house struct {
	floor map[string]int
	row   map[string]int
	place map[string]int
}

// readHouse reads the block between the lines ```floors and ```, top floor
// first, each line a floor with rows separated by ";" and places by "→".
func readHouse(t *testing.T) house {
	t.Helper()
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```floors\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("architecture.md has no ```floors block")
	}
	h := house{map[string]int{}, map[string]int{}, map[string]int{}}
	lines := strings.Split(strings.TrimSpace(block), "\n")
	rows := 0
	for i, line := range lines {
		_, packages, _ := strings.Cut(strings.TrimSpace(line), " ")
		for row := range strings.SplitSeq(packages, ";") {
			rows++
			for place, name := range strings.Split(row, "→") {
				name = strings.TrimSpace(name)
				h.floor[name], h.row[name], h.place[name] = len(lines)-i, rows, place
			}
		}
	}
	return h
}

// name finds a package, or the pattern that stands for it, in the table.
func (h house) name(pkg string) (string, bool) {
	for _, name := range []string{pkg, path.Dir(pkg) + "/*"} {
		if _, ok := h.floor[name]; ok {
			return name, true
		}
	}
	return "", false
}

func (h house) allows(from, to string) bool {
	const ground = 2 // above the soil
	switch {
	case h.floor[from] <= ground:
		return h.floor[from] > h.floor[to]
	case h.floor[from] != h.floor[to]:
		return h.floor[from] > h.floor[to]
	}
	return h.row[from] == h.row[to] && h.place[from] > h.place[to]
}

type listed struct {
	ImportPath    string
	Imports, Deps []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-buildvcs=false", "-json=ImportPath,Imports,Deps", "../...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// Imports go down, or left along a row; the packages of the ground floor import
// nothing of ours but the soil.
func TestImportsFollowTheHouse(t *testing.T) {
	h := readHouse(t)
	seen := make(map[string]bool)
	for _, p := range listPackages(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		if pkg == "docs" || strings.HasPrefix(pkg, "docs/") { // tests and measurements import what they look at
			continue
		}
		from, ok := h.name(pkg)
		if !ok {
			t.Errorf("%s has no place in architecture.md", pkg)
			continue
		}
		seen[from] = true
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			to, _ := h.name(strings.TrimPrefix(imp, module))
			if !h.allows(from, to) {
				t.Errorf("%s imports %s, against architecture.md", pkg, strings.TrimPrefix(imp, module))
			}
		}
	}
	for name := range h.floor {
		if !seen[name] {
			t.Errorf("architecture.md lists %s, which does not exist", name)
		}
	}
}

// Whoever only asks models links nothing that sends.
func TestProtocolSendsNothing(t *testing.T) {
	for _, p := range listPackages(t) {
		if p.ImportPath != module+"llm" {
			continue
		}
		for _, d := range p.Deps {
			if d == "net/http" || strings.Contains(d, "backoff") || strings.HasPrefix(d, "golang.org/x/time") {
				t.Errorf("llm links %s", d)
			}
		}
	}
}

// Whoever imports retrieval, the scorer or the benchmark links no client of a
// vendor.
func TestNoLangchainBelowTheBridge(t *testing.T) {
	for _, p := range listPackages(t) {
		pkg := strings.TrimPrefix(p.ImportPath, module)
		if pkg == "llm/langchain" || strings.HasPrefix(pkg, "examples/") {
			continue
		}
		if slices.ContainsFunc(p.Deps, func(d string) bool { return strings.HasPrefix(d, "github.com/tmc/langchaingo") }) {
			t.Errorf("%s links langchaingo", pkg)
		}
	}
}
