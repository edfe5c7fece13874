// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// MaxFile is the largest size, in bytes, of a file that [Load] indexes in memory, which takes some three times
// as much. The limit for a compressed file is an eighth of it.
const MaxFile = 1 << 30

// Load returns the index of the graph at a path: a folder that [Build] wrote is opened, anything else is read
// by [Files] and indexed in memory. It is an error if more lines are invalid than valid, or if there is no
// triple. a has the meaning of [Options].Analyzer.
func Load(ctx context.Context, path string, a text.Analyzer) (*Index, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("triples: load: %w", err)
	}
	if info.IsDir() && wikidata(path, "triplet") == "" {
		ix, err := Open(path, a)
		if errors.Is(err, ErrFolder) {
			err = fmt.Errorf("%w (a folder of Wikidata5M has a file with triplet in its name)", err)
		}
		return ix, err
	}
	if most := int64(MaxFile >> map[bool]int{true: 3}[strings.HasSuffix(path, ".gz")]); info.Size() > most {
		return nil, fmt.Errorf("triples: %s has %d bytes, at most %d are indexed in memory: build a folder of it once, and name that", path, info.Size(), most)
	}
	var bad Bad
	ix, err := New(ctx, Files(path, &bad), Options{Analyzer: a})
	if err != nil {
		return nil, err
	}
	ix.bad = bad
	return ix, bad.excess(path, ix.Len())
}

// excess returns an error if most lines are invalid, or none is valid.
func (b Bad) excess(path string, valid int) error {
	switch {
	case b.Lines > valid:
		return fmt.Errorf("triples: %s: %d of %d lines are not triples, the first error: %w", path, b.Lines, b.Lines+valid, b.First[0])
	case valid == 0:
		return fmt.Errorf("triples: %s holds no triple of named entities", path)
	}
	return nil
}

// Files yields the triples at a path: a file whose name ends in .tsv, .jsonl or .nt, perhaps followed by .gz,
// or a folder with Wikidata5M's three files (with triplet, entity and relation in their names). Labels of
// N-Triples are those in English. Invalid lines are added to bad, which is complete after the last triple.
func Files(path string, bad *Bad) iter.Seq2[Triple, error] {
	return func(yield func(Triple, error) bool) {
		r, file, err := open(path, bad)
		if err != nil {
			yield(Triple{}, err)
			return
		}
		defer file.Close() // only read, so errors do not matter
		for t, err := range r.All() {
			if !yield(t, err) {
				return
			}
		}
		bad.join(r.Bad())
	}
}

// join adds the invalid lines of another file.
func (b *Bad) join(other Bad) {
	b.Lines += other.Lines
	b.First = append(b.First, other.First...)
	b.First = b.First[:min(len(b.First), firstBad)]
}

// open opens the file of triples at a path, after reading its labels.
func open(path string, bad *Bad) (*Reader, io.Closer, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if info.IsDir() {
		return openWikidata(path, bad)
	}
	read := TSV
	switch filepath.Ext(strings.TrimSuffix(path, ".gz")) {
	case ".tsv":
	case ".jsonl":
		read = JSONL
	case ".nt":
		labels, err := labelsOf(path, bad, func(name string, in io.Reader) (Labels, Bad, error) {
			found, _, err := NTriplesLabels(name, in, "en") // its invalid lines are found again when triples are read
			return found, Bad{}, err
		})
		if err != nil {
			return nil, nil, err
		}
		read = func(name string, in io.Reader) *Reader { return NTriples(name, in, labels) }
	default:
		return nil, nil, fmt.Errorf("%s: want a file whose name ends in .tsv, .jsonl or .nt (perhaps with .gz), or a folder", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return read(path, f), f, nil
}

// openWikidata opens a folder of Wikidata5M. Without the file of entities the graph has no names, so nothing
// could be found in it.
func openWikidata(dir string, bad *Bad) (*Reader, io.Closer, error) {
	names := make(map[string]Labels)
	for _, of := range []string{"entity", "relation"} {
		file := wikidata(dir, of)
		if file == "" {
			return nil, nil, fmt.Errorf("%s has no file with %s in its name, which has the labels of Wikidata5M's ids", dir, of)
		}
		labels, err := labelsOf(file, bad, ReadLabels)
		if err != nil {
			return nil, nil, err
		}
		names[of] = labels
	}
	path := wikidata(dir, "triplet")
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return Wikidata5M(path, f, names["entity"], names["relation"]), f, nil
}

// wikidata returns the path of the first file in a folder whose name contains a word, "" if there is none.
func wikidata(dir, word string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "*"+word+"*.txt*")) // the pattern is valid
	slices.Sort(found)
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

func labelsOf(path string, bad *Bad, read func(string, io.Reader) (Labels, Bad, error)) (Labels, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read, so errors do not matter
	labels, wrong, err := read(path, f)
	bad.join(wrong)
	return labels, err
}
