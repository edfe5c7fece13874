// SPDX-License-Identifier: Apache-2.0

package wildgraph

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"

	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// readLines decodes every non-empty line of a JSON-lines file. Errors are
// *jsonl.Error for what a line holds and *fs.PathError for the file.
func readLines[T any](fsys fs.FS, name string) iter.Seq2[jsonl.Line[T], error] {
	return func(yield func(jsonl.Line[T], error) bool) {
		f, err := openRegular(fsys, name)
		if err != nil {
			yield(jsonl.Line[T]{}, err)
			return
		}
		defer f.Close() // only read
		jsonl.Read[T](f, jsonl.Options{Name: name})(yield)
	}
}

// openRegular opens a file, and no pipe, device or folder: reading one of those
// may never end.
func openRegular(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file (%s)", name, info.Mode().Type())
	}
	return fsys.Open(name)
}

// stringOrList accepts "a" and ["a", …]: the released files wrap the question
// type into a list of one.
type stringOrList []string

func (s *stringOrList) UnmarshalJSON(data []byte) error {
	var one string
	if err := json.Unmarshal(data, &one); err == nil {
		*s = stringOrList{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*s = list
	return nil
}
