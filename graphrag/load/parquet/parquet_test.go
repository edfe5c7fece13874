// SPDX-License-Identifier: Apache-2.0

package parquet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"

	"github.com/wildgraph/wildgraph/graphrag/load/parquet"
	"github.com/wildgraph/wildgraph/internal/check"
)

type name struct {
	ID   int64  `parquet:"id"`
	Name string `parquet:"name"`
}

// file returns a Parquet file of three rows.
func file(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	check.OK(t, pq.Write(&b, []name{{1, "Ada"}, {2, ""}, {3, "Łódź"}}))
	return b.Bytes()
}

// count returns the number of rows of a file.
func count(data []byte) (n int, err error) {
	f, err := parquet.Open(bytes.NewReader(data), int64(len(data)))
	if err == nil {
		err = parquet.Rows(f, func(pq.Row) error { n++; return nil })
	}
	return n, err
}

func Example() {
	var b bytes.Buffer
	if err := pq.Write(&b, []name{{1, "Ada"}}); err != nil {
		panic(err)
	}
	f, err := parquet.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		panic(err)
	}
	fmt.Println(parquet.Rows(f, func(r pq.Row) error { fmt.Println(r[0], r[1]); return nil }))
	// Output:
	// 1 Ada
	// <nil>
}

// A file that is cut off anywhere is an error. Any other change gives an error, or at most the file's rows.
func TestDamaged(t *testing.T) {
	whole := file(t)
	n, err := count(whole)
	check.Must(t, n == 3 && err == nil, "%d rows, %v", n, err)
	for n := range whole {
		_, err := count(whole[:n])
		check.Must(t, errors.Is(err, parquet.ErrDamaged), "cut after %d of %d bytes: %v", n, len(whole), err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		data := bytes.Clone(whole)
		for range 1 + r.IntN(3) {
			data[r.IntN(len(data))] = byte(r.Uint32())
		}
		_, err := count(data)
		check.Must(t, err == nil || errors.Is(err, parquet.ErrDamaged), "%v", err)
	}
}

// An error of the caller that takes the rows ends the reading and is returned.
func TestTakeFails(t *testing.T) {
	data, enough := file(t), errors.New("enough")
	f, err := parquet.Open(bytes.NewReader(data), int64(len(data)))
	check.OK(t, err)
	n := 0
	err = parquet.Rows(f, func(pq.Row) error { n++; return enough })
	check.True(t, errors.Is(err, enough) && n == 1, "%v after %d rows", err, n)
}

// A table without rows that pyarrow wrote has a row group whose columns have a dictionary and no page of data.
func TestEmptyGroup(t *testing.T) {
	var b bytes.Buffer
	w := pq.NewGenericWriter[struct {
		Src int64 `parquet:"src,dict"`
	}](&b)
	check.OK(t, check.Err(w.Write(make([]struct {
		Src int64 `parquet:"src,dict"`
	}, 1))))
	check.OK(t, w.Close())
	f, err := parquet.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	check.OK(t, err)
	meta := f.Metadata()
	meta.NumRows = 0
	g := &meta.RowGroups[0]
	g.NumRows = 0
	g.Columns[0].MetaData.NumValues = 0
	g.Columns[0].MetaData.DataPageOffset = -1
	footer := check.Of(thrift.Marshal(new(thrift.CompactProtocol), *meta)).OK(t)
	data := append([]byte("PAR1"), make([]byte, 64)...)
	data = append(data, footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	data = append(data, "PAR1"...)
	f = check.Of(parquet.Open(bytes.NewReader(data), int64(len(data)))).OK(t)
	err = parquet.Rows(f, func(pq.Row) error { t.Error("a row"); return nil })
	check.OK(t, err)
}
