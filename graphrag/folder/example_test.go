// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
)

// A folder is read once, and again where it has changed. sparse makes a system whose kit
// reads the files through [Files.Reader].
func Example() {
	dir, err := os.MkdirTemp("", "notes")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	notes := filepath.Join(dir, "lights.md")
	if err := os.WriteFile(notes, []byte("# Lights\n\n| Light | Meaning |\n|---|---|\n| red | no internet |\n"), 0o600); err != nil {
		panic(err)
	}
	ctx := context.Background()
	files := new(folder.Files)
	system, err := sparse(files)
	if err != nil {
		panic(err)
	}
	f, change, err := folder.Open(ctx, folder.Options{Docs: dir, Index: filepath.Join(dir, ".index"), System: system, Files: files})
	if err != nil {
		panic(err)
	}
	defer f.Close()
	a, err := system.Answer(ctx, graphrag.Question{Text: "What does the red light mean?", K: 5})
	if err != nil {
		panic(err)
	}
	for _, s := range files.Sources(a) {
		fmt.Println(change.Added, s.Doc+":"+s.Place, s.Quote)
	}
	// Output: 1 lights.md:5 red | no internet
}
