// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
)

// A generation can be read as plain files.
func ExampleExport() {
	dir, err := os.MkdirTemp("", "snapshot")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := export(dir); err != nil {
		fmt.Println(err)
		return
	}
	lines, err := os.ReadFile(filepath.Join(dir, "plain", "chunks.records.jsonl"))
	fmt.Printf("%s%v", lines, err)
	// Output:
	// {"id":"fram","text":"The Fram sailed to Antarctica.","vector":true}
	// <nil>
}

func export(dir string) error {
	ctx := context.Background()
	s, err := disk.Open(filepath.Join(dir, "store"), disk.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	schema := store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: 2}}}
	c, err := s.Create(ctx, "ships", schema)
	if err != nil {
		return err
	}
	g, err := c.Write(ctx, "first")
	if err != nil {
		return err
	}
	chunks, err := g.Table("chunks")
	if err != nil {
		return err
	}
	return errors.Join(
		chunks.Put(ctx, store.Record{ID: "fram", Text: "The Fram sailed to Antarctica.", Vector: []float32{1, 0}}),
		g.Flush(ctx),
		store.Export(ctx, filepath.Join(dir, "plain"), schema, g),
		g.Close())
}
