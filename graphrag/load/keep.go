// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"encoding/gob"
	"errors"

	"github.com/wildgraph/wildgraph/graphrag"
)

// kept is a File as it is written.
type kept struct {
	Document   graphrag.Document
	Text, File []int
	Lines      []int
	Size       int
	Unit       string
}

// MarshalBinary writes the file, so that it need not be parsed again.
func (f *File) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(kept{f.Document, f.anchors.text, f.anchors.file, f.lines, f.size, f.unit})
	return b.Bytes(), err
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (f *File) UnmarshalBinary(data []byte) error {
	var k kept
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&k); err != nil {
		return err
	}
	if len(k.Text) != len(k.File) {
		return errors.New("load: a kept file is damaged")
	}
	*f = File{Document: k.Document, anchors: anchors{k.Text, k.File}, lines: k.Lines, size: k.Size, unit: k.Unit}
	return nil
}
