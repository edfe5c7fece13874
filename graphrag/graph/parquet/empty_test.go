// SPDX-License-Identifier: Apache-2.0

package parquet_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"

	"github.com/wildgraph/wildgraph/graphrag/graph/parquet"
)

// A table of no rows as pyarrow writes it has a row group whose columns have a dictionary
// and no page of data.
func TestEmptyGroup(t *testing.T) {
	var b bytes.Buffer
	w := pq.NewGenericWriter[struct {
		Src int64 `parquet:"src,dict"`
	}](&b)
	if _, err := w.Write(make([]struct {
		Src int64 `parquet:"src,dict"`
	}, 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	meta := f.Metadata()
	meta.NumRows = 0
	g := &meta.RowGroups[0]
	g.NumRows = 0
	g.Columns[0].MetaData.NumValues = 0
	g.Columns[0].MetaData.DataPageOffset = -1
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), *meta)
	if err != nil {
		t.Fatal(err)
	}
	data := append([]byte("PAR1"), make([]byte, 64)...)
	data = append(data, footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	data = append(data, "PAR1"...)
	f, err = parquet.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := parquet.Rows(f, func(pq.Row) error { t.Error("a row"); return nil }); err != nil {
		t.Error(err)
	}
}
