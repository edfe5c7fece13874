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
	"strings"
	"sync"
	"testing"

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
		if pkg == "docs" || strings.HasPrefix(pkg, "docs/") { // tests and measurements import what they look at
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

// Whoever only asks models links nothing that sends, and whoever imports retrieval, the scorer or
// the benchmark no client of a vendor.
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
