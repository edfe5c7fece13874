// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/llm/journal"
)

func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "answers.journal")

	j, err := journal.Open(path, journal.Header{Schema: "answers/1", Config: "k=5"}, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(j.Append(1, []byte("forty-two"))) // nil: it is on disk
	fmt.Println(j.Close())

	// Another configuration may not go on where this one stopped.
	_, err = journal.Open(path, journal.Header{Schema: "answers/1", Config: "k=9"}, journal.Options{})
	fmt.Println(errors.Is(err, journal.ErrMismatch))

	j, err = journal.Open(path, journal.Header{Schema: "answers/1", Config: "k=5"}, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer j.Close()
	for rec, err := range j.Records() {
		fmt.Println(rec.Seq, rec.Kind, string(rec.Payload), err)
	}
	// Output:
	// <nil>
	// <nil>
	// true
	// 1 1 forty-two <nil>
}
