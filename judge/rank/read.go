// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// MaxLine is the longest line, in bytes, that ReadRun and ReadQrels take.
const MaxLine = 1 << 20

// maxErrors bounds how many faulty lines one error lists.
const maxErrors = 20

// ReadRun reads a TREC run: lines of "query Q0 document rank score tag",
// separated by spaces or tabs. The second, fourth and last column are not
// looked at, nor what stands behind it, as in trec_eval. Lines of a query need not
// stand together; blank lines, lines that begin with # (comments since trec_eval 10),
// a byte order mark and CRLF are passed over. Ids are bytes and need not be UTF-8.
//
// The error lists the faulty lines by number, up to 20 of them: fewer
// columns, a score that is no number, a document that occurs twice for its
// query ([ErrDuplicate]).
func ReadRun(r io.Reader) (*Run, error) {
	rows, err := read(r, 6, 2, func(fields [][]byte) (float64, error) {
		score, err := strconv.ParseFloat(string(fields[4]), 64)
		// Out of range is infinite, in C and here, and as good an order.
		if errors.Is(err, strconv.ErrSyntax) || math.IsNaN(score) {
			return 0, fmt.Errorf("score %q is no number", clip(fields[4]))
		}
		return score, nil
	})
	if err != nil {
		return nil, fmt.Errorf("rank: read run: %w", err)
	}
	run := new(Run)
	for query, rows := range rows.byQuery {
		hits := make([]Hit, len(rows))
		for i, row := range rows {
			hits[i] = Hit{row.doc, row.value}
		}
		order(hits)
		_ = run.lists.add(query, hits) // queries differ
	}
	return run, nil
}

// ReadQrels reads TREC relevance judgments: lines of "query iteration document
// level", the level an integer. The second column is not looked at. For the
// rest it is as ReadRun.
func ReadQrels(r io.Reader) (*Qrels, error) {
	rows, err := read(r, 4, 2, func(fields [][]byte) (int32, error) {
		l, err := strconv.ParseInt(string(fields[3]), 10, 32)
		if err != nil {
			return 0, fmt.Errorf("level %q is no integer of 32 bits", clip(fields[3]))
		}
		return int32(l), nil
	})
	if err != nil {
		return nil, fmt.Errorf("rank: read qrels: %w", err)
	}
	qrels := new(Qrels)
	for query, rows := range rows.byQuery {
		judgments := make([]Judgment, len(rows))
		for i, row := range rows {
			judgments[i] = Judgment{row.doc, row.value}
		}
		_ = qrels.lists.add(query, judgments) // queries differ
	}
	return qrels, nil
}

// row is a line of a file.
type row[V any] struct {
	query int
	line  int
	doc   string
	value V
}

type rows[V any] struct {
	queries []string // in the order they first occur
	rows    []row[V] // by query, then document
}

// byQuery goes through the rows of each query.
func (t rows[V]) byQuery(yield func(string, []row[V]) bool) {
	start := 0
	for q, query := range t.queries {
		end := start
		for end < len(t.rows) && t.rows[end].query == q {
			end++
		}
		if !yield(query, t.rows[start:end]) {
			return
		}
		start = end
	}
}

// read reads lines of so many columns, or more: the query, something, the document,
// and what value makes of them.
func read[V any](r io.Reader, columns, doc int, value func([][]byte) (V, error)) (rows[V], error) {
	var table rows[V]
	var errs []error
	number := make(map[string]int)
	fields := make([][]byte, 0, columns)
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), MaxLine)
	line := 0
	fail := func(line int, err error) { errs = append(errs, fmt.Errorf("line %d: %w", line, err)) }
	for lines.Scan() && len(errs) < maxErrors {
		line++
		text := lines.Bytes()
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		n := 0
		fields, n = split(fields[:0], text, columns)
		switch {
		case n == 0 || fields[0][0] == '#':
			continue
		case n < columns:
			fail(line, fmt.Errorf("%d columns, want %d", n, columns))
			continue
		}
		v, err := value(fields)
		if err != nil {
			fail(line, err)
			continue
		}
		q, ok := number[string(fields[0])]
		if !ok {
			q = len(table.queries)
			number[string(fields[0])] = q
			table.queries = append(table.queries, string(fields[0]))
		}
		table.rows = append(table.rows, row[V]{q, line, string(fields[doc]), v})
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("longer than %d bytes: %w", MaxLine, err)
		}
		fail(line+1, err)
	}
	slices.SortFunc(table.rows, func(a, b row[V]) int {
		return cmp.Or(a.query-b.query, cmp.Compare(a.doc, b.doc), a.line-b.line)
	})
	for i := 1; i < len(table.rows) && len(errs) < maxErrors; i++ {
		if a, b := table.rows[i-1], table.rows[i]; a.query == b.query && a.doc == b.doc {
			fail(b.line, fmt.Errorf("document %q of query %q %w, before in line %d", clip([]byte(b.doc)), clip([]byte(table.queries[b.query])), ErrDuplicate, a.line))
		}
	}
	return table, errors.Join(errs...)
}

// split appends up to limit columns of a line to fields and counts them all.
func split(fields [][]byte, line []byte, limit int) ([][]byte, int) {
	n := 0
	for {
		line = bytes.TrimLeft(line, " \t\r\v\f")
		if len(line) == 0 {
			return fields, n
		}
		end := bytes.IndexAny(line, " \t\r\v\f")
		if end < 0 {
			end = len(line)
		}
		if n++; n <= limit {
			fields = append(fields, line[:end])
		}
		line = line[end:]
	}
}

// clip shortens what an error quotes.
func clip(b []byte) []byte { return b[:min(len(b), 80)] }
