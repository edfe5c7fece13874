// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
)

// A collection is written, published and read.
func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := disk.Open(dir, disk.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if err := fill(s); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	c, err := s.Open(ctx, "ships")
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := c.Pin(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	chunks, err := g.Table("chunks")
	if err != nil {
		fmt.Println(err)
		return
	}
	hits, err := chunks.SearchText(ctx, store.TextQuery{Text: "Which ship sailed to Antarctica?", K: 1, Where: graphrag.Between("year", 1890, 1900)})
	fmt.Println(hits[0][0].ID, err)
	// Output: fram <nil>
}

func fill(s store.Store) error {
	ctx := context.Background()
	c, err := s.Create(ctx, "ships", store.Schema{Tables: map[string]store.TableSchema{
		"chunks": {Text: true},
	}})
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
		chunks.Put(ctx,
			store.Record{ID: "fram", Text: "The Fram sailed to Antarctica.", Fields: graphrag.Fields{"year": 1892.}},
			store.Record{ID: "gjoa", Text: "The Gjøa sailed the Northwest Passage, and never to Antarctica.", Fields: graphrag.Fields{"year": 1872.}}),
		c.Publish(ctx, "first", ""),
		g.Close())
}
