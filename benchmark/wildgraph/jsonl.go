// SPDX-License-Identifier: Apache-2.0

package wildgraph

import (
	"io/fs"
	"iter"

	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// readLines decodes every non-empty line of a JSON-lines file. Errors are
// *jsonl.Error for what a line holds and *fs.PathError for the file.
func readLines[T any](fsys fs.FS, name string) iter.Seq2[jsonl.Line[T], error] {
	return func(yield func(jsonl.Line[T], error) bool) {
		f, err := jsonl.Open(fsys, name)
		if err != nil {
			yield(jsonl.Line[T]{}, err)
			return
		}
		defer f.Close() // only read
		jsonl.Read[T](f, jsonl.Options{Name: name})(yield)
	}
}
