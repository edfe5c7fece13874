// Command words finds comments and names that are hard to read in the Go files of folders, without tests and
// testdata. It prints each place and their number, and fails if there is any:
//
//	go run ./.ci/words DIR...
//
// openings: comment blocks whose first sentence is "x is that/those/what/who/which …" in place of a noun;
// idioms:   comment lines with one of a list of phrases that other projects do not use;
// shadowed: local names that hide a package-level name of the same package.
//
// In gonum, bleve, bbolt, go-cmp, chromem-go and eino there are 0 openings in 18,977 blocks, idioms in .04 % of
// lines, and .0 to .7 shadowed names in 1,000 lines.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	opening = regexp.MustCompile(`^\s*\w+ (?:is|are|was|were) (?:that|those|what|who|whoever|which)\b`)
	idiom   = regexp.MustCompile(`(?i)\b(?:anew|whoever|whosoever|nobody|somebody|so many|so much of|beside (?:that|those|them|it|what|others|one)|goes on|go on|went on|going on|stands? (?:in|for|on|at|behind|beside|between|before|there|under)|no more than|others than|owes|comes? to (?:an end|its)|that of|those of|what (?:is|was|it|they|comes?|came|goes|stands?) (?:left|gone|new|there|of)|one after the other|of its own kind|told|tells? whether|makes? (?:it|them) anew|is (?:his|hers|theirs|its own))\b`)
)

func main() {
	found := 0
	for _, root := range os.Args[1:] {
		n, err := count(root)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		found += n
	}
	fmt.Println(found)
	if found > 0 {
		os.Exit(1)
	}
}

// count prints the position of each hard-to-read comment or name in the Go files of a folder, and returns their number.
func count(root string) (found int, err error) {
	set := token.NewFileSet()
	packages := map[string][]*ast.File{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "vendor" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], f)
		return nil
	})
	say := func(pos token.Pos, kind, what string) {
		found++
		fmt.Printf("%s: %s: %s\n", set.Position(pos), kind, strings.TrimSpace(what))
	}
	for _, files := range packages {
		top := names(files)
		for _, f := range files {
			for _, group := range f.Comments {
				for i, c := range group.List {
					line := strings.TrimPrefix(c.Text, "//")
					if i == 0 && opening.MatchString(line) {
						say(c.Pos(), "opening", line)
					}
					if idiom.MatchString(line) {
						say(c.Pos(), "idiom", line)
					}
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				for _, id := range locals(n) {
					if top[id.Name] {
						say(id.Pos(), "shadowed", id.Name)
					}
				}
				return true
			})
		}
	}
	return found, err
}

// names returns the package-level names of some files.
func names(files []*ast.File) map[string]bool {
	top := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					top[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						top[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, id := range s.Names {
							top[id.Name] = true
						}
					}
				}
			}
		}
	}
	delete(top, "_")
	delete(top, "init")
	delete(top, "main")
	return top
}

// locals returns the local names that a node declares.
func locals(n ast.Node) (ids []*ast.Ident) {
	fields := func(lists ...*ast.FieldList) {
		for _, l := range lists {
			if l == nil {
				continue
			}
			for _, f := range l.List {
				ids = append(ids, f.Names...)
			}
		}
	}
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if id, ok := e.(*ast.Ident); ok {
				ids = append(ids, id)
			}
		}
	}
	switch n := n.(type) {
	case *ast.FuncDecl:
		fields(n.Recv, n.Type.Params, n.Type.Results)
	case *ast.FuncLit:
		fields(n.Type.Params, n.Type.Results)
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			add(n.Lhs...)
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			add(n.Key, n.Value)
		}
	case *ast.DeclStmt:
		if g, ok := n.Decl.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					ids = append(ids, v.Names...)
				}
			}
		}
	}
	return ids
}
