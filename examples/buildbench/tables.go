// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/load/parquet"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// tables writes the Parquet files of a folder and of its subfolders, such as data, as JSON lines with the
// same names for wildgraphbench. That program links no reader of Parquet, which would add a fifth to its
// build.
func tables(from, to string, stdout io.Writer) error {
	var names []string
	for _, pattern := range []string{"*.parquet", "*/*.parquet"} {
		found, err := fs.Glob(os.DirFS(from), pattern)
		if err != nil {
			return err
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return fmt.Errorf("-parquet: %s and its subfolders have no file NAME.parquet", from)
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, name := range names {
		lines := filepath.Join(to, strings.TrimSuffix(filepath.Base(name), ".parquet")+".jsonl")
		if err := table(filepath.Join(from, name), lines); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintln(stdout, lines)
	}
	return nil
}

func table(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return journal.WriteFile(to, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		return errors.Join(parquet.JSONLines(b, f, info.Size()), b.Flush())
	})
}
