// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm/journal"
)

const (
	catalogName    = "catalog.json"
	lockName       = "lock"
	segmentsFolder = "segments"
	catalogVersion = 1
)

// catalog is all that decides what is there.
type catalog struct {
	Version     int               `json:"version"`
	Next        int               `json:"next_segment"`
	Collections map[string]*entry `json:"collections"`
}

// entry describes a collection.
type entry struct {
	Schema      store.Schema     `json:"schema"`
	Published   string           `json:"published,omitempty"`
	Generations map[string]parts `json:"generations"`
}

// parts are the numbers of the segments of a generation, by table.
type parts map[string][]int

// readCatalog reads the catalog of a folder; of a new one it is empty.
func readCatalog(dir string) (*catalog, error) {
	c := &catalog{Version: catalogVersion, Collections: map[string]*entry{}}
	name := filepath.Join(dir, catalogName)
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		// A catalog is written before any segment, so what is there is somebody else's.
		if entries, _ := os.ReadDir(filepath.Join(dir, segmentsFolder)); len(entries) > 0 {
			return nil, fmt.Errorf("%s: %w: there is a folder %q and no catalog, so it is no store: restore the catalog, or name another folder", dir, store.ErrMismatch, segmentsFolder)
		}
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	c.Version = 0
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w: it is no catalog: restore it, or name another folder: %w", name, store.ErrMismatch, err)
	}
	if c.Version != catalogVersion || c.Collections == nil {
		return nil, fmt.Errorf("%s: %w: it is of version %d, and %d is known: open it with the release that wrote it, or build it again", name, store.ErrMismatch, c.Version, catalogVersion)
	}
	return c, nil
}

// save makes the catalog durable.
func (c *catalog) save(dir string) error {
	return journal.WriteFile(filepath.Join(dir, catalogName), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(c)
	})
}

// names are the segments that the catalog names.
func (c *catalog) names() map[string]bool {
	all := map[string]bool{}
	for _, collection := range c.Collections {
		for _, generation := range collection.Generations {
			for _, numbers := range generation {
				for _, n := range numbers {
					all[strconv.Itoa(n)] = true
				}
			}
		}
	}
	return all
}

// sweep removes the segments that the catalog does not name: a flush that was killed
// left them.
func (c *catalog) sweep(dir string) error {
	dir = filepath.Join(dir, segmentsFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	known := c.names()
	errs := []error{err}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil && !known[e.Name()] {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
