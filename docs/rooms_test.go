// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The limits of a room: files that need each other in a circle, and names that
// its users have to learn.
const (
	largestCircle = 4
	mostExported  = 60
)

// excused are the packages with more names, and why.
var excused = map[string]string{
	"graphrag/store": "one name for each error that an engine may have",
}

// room is a type-checked package.
type room struct {
	path  string
	fset  *token.FileSet
	files []*ast.File
	types *types.Package
	info  *types.Info
}

// checkRooms type-checks every package of the module against the compiler's
// export data.
func checkRooms(t *testing.T) []room {
	t.Helper()
	cmd := exec.Command("go", "list", "-buildvcs=false", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,Module", "../...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type pkg struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		Module                  *struct{ Main bool }
	}
	exports := make(map[string]string)
	var ours []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && len(p.GoFiles) > 0 {
			ours = append(ours, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var rooms []room
	for _, p := range ours {
		r := room{path: strings.TrimPrefix(p.ImportPath, module), fset: fset, info: &types.Info{
			Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object),
		}}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			r.files = append(r.files, f)
		}
		config := types.Config{Importer: imports}
		if r.types, err = config.Check(p.ImportPath, fset, r.files, r.info); err != nil {
			t.Fatal(err)
		}
		rooms = append(rooms, r)
	}
	return rooms
}

// arrows lists for each file the files whose names it uses. A method counts as
// a name of the file that declares it, a field as one of its struct's.
func (r room) arrows() map[string][]string {
	file := func(pos token.Pos) string { return filepath.Base(r.fset.Position(pos).Filename) }
	out := make(map[string][]string)
	for id, obj := range r.info.Uses {
		if obj.Pkg() != r.types || obj.Parent() != nil && obj.Parent() != r.types.Scope() {
			continue // of another package, or local
		}
		from, to := file(id.Pos()), file(obj.Pos())
		if from != to && !slices.Contains(out[from], to) {
			out[from] = append(out[from], to)
		}
	}
	return out
}

// circles are the strongly connected sets of files, by Tarjan.
func circles(arrows map[string][]string) [][]string {
	index, low := make(map[string]int), make(map[string]int)
	var stack []string
	var out [][]string
	var visit func(string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack = append(stack, v)
		for _, w := range arrows[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if slices.Contains(stack, w) {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] == index[v] {
			at := slices.Index(stack, v)
			out = append(out, slices.Sorted(slices.Values(stack[at:])))
			stack = stack[:at]
		}
	}
	for _, v := range slices.Sorted(maps.Keys(arrows)) {
		if index[v] == 0 {
			visit(v)
		}
	}
	return out
}

// exported are the names of a package without the fields of its structs.
func (r room) exported() []string {
	var names []string
	for _, name := range r.types.Scope().Names() {
		obj := r.types.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		names = append(names, name)
		named, ok := obj.Type().(*types.Named)
		if _, isType := obj.(*types.TypeName); !isType || !ok {
			continue
		}
		for m := range named.Methods() {
			if m.Exported() {
				names = append(names, name+"."+m.Name())
			}
		}
	}
	return names
}

// No circle of more than four files stands inside a package, and none has more
// than sixty exported names without a reason.
func TestRooms(t *testing.T) {
	for _, r := range checkRooms(t) {
		for _, c := range circles(r.arrows()) {
			if len(c) > largestCircle {
				t.Errorf("%s: %d files need each other: %s", r.path, len(c), strings.Join(c, " "))
			}
		}
		names, reason := r.exported(), excused[r.path]
		switch {
		case len(names) > mostExported && reason == "":
			t.Errorf("%s exports %d names", r.path, len(names))
		case len(names) <= mostExported && reason != "":
			t.Errorf("%s is excused, but exports only %d names", r.path, len(names))
		}
		if testing.Verbose() {
			fmt.Printf("%-45s %3d names, %2d files\n", r.path, len(names), len(r.files))
		}
	}
}
