// SPDX-License-Identifier: Apache-2.0

// Command instore builds an index in a store on disk, for corpora larger than memory, and
// searches it.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: instore FOLDER \"question\"")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, folder, question string) error {
	dir, err := os.MkdirTemp("", "instore")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := disk.Open(dir, disk.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	parts, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		return err
	}
	bm25, err := flat.NewBM25(parts, flat.BM25Options{})
	if err != nil {
		return err
	}
	system, err := kit.Open(ctx, bm25.Frame(), store, "ships")
	if err != nil {
		return err
	}
	defer system.Close()
	if _, err := system.Index(ctx, load.Options{Formats: office.Formats()}.Documents(ctx, os.DirFS(folder))); err != nil {
		return err
	}
	answer, err := system.Answer(ctx, graphrag.Question{Text: question, K: 5})
	if err != nil {
		return err
	}
	names, err := store.Collections(ctx)
	fmt.Printf("%d collections\n%s\n", len(names), answer.Text)
	return err
}
