// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/wildgraph/wildgraph/llm/journal"
)

// Schema is the version of the records in a journal.
const Schema = "wildgraph-run/3"

// JournalName is the journal's file name in a folder of records.
const JournalName = "run.journal"

// ErrOtherSchema is wrapped by the error about a folder with records of another version of this package.
var ErrOtherSchema = errors.New("the folder holds records of another version")

// The kinds of records in a journal.
const (
	kindSettings uint8 = iota + 1
	kindIndex
	kindAnswer
	kindJudgment
	kindClosing
)

func (Settings) kind() uint8 { return kindSettings }
func (Index) kind() uint8    { return kindIndex }
func (Answer) kind() uint8   { return kindAnswer }
func (Judgment) kind() uint8 { return kindJudgment }
func (Closing) kind() uint8  { return kindClosing }

func (r Settings) key() any { return r.Digest }
func (r Index) key() any    { return indexKey(r.Cell) }
func (r Answer) key() any   { return r.Key }
func (r Judgment) key() any { return judgmentKey{r.Key, r.Judge, r.Case} }
func (r Closing) key() any  { return closingKey(r.Cell) }

// The keys of judgments, indexes and closings.
type (
	judgmentKey struct {
		Key
		judge, shown string
	}
	indexKey   Cell
	closingKey Cell
)

// Log holds records in memory and, if there is a folder, on disk. It is safe for concurrent use.
type Log struct {
	journal *journal.Journal // nil: nothing is kept

	mu      sync.Mutex
	records map[any]Record // by their keys
}

// New returns a log without a folder.
func New() *Log { return &Log{records: make(map[any]Record)} }

// Open reads the records of a folder, or starts new ones. It locks the folder until it is closed.
func Open(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	j, err := journal.Open(filepath.Join(dir, JournalName), journal.Header{Schema: Schema}, journal.Options{})
	var mismatch *journal.MismatchError
	switch {
	case errors.As(err, &mismatch):
		return nil, fmt.Errorf("record: %s: %w: they are %s, this program writes %s; choose another folder, or remove %s to start anew",
			dir, ErrOtherSchema, mismatch.Have.Schema, Schema, JournalName)
	case errors.Is(err, journal.ErrLocked):
		return nil, fmt.Errorf("record: %s is in use by another run; wait for it or choose another folder: %w", dir, err)
	case err != nil:
		return nil, fmt.Errorf("record: %w", err)
	}
	l := New()
	l.journal = j
	for r, err := range l.Records() {
		if err != nil {
			return nil, errors.Join(err, j.Close())
		}
		l.keep(r)
	}
	return l, nil
}

// Forget removes the records of a folder, whole or damaged, unless a run is using them. A folder without
// records is no error.
func Forget(dir string) error {
	name := filepath.Join(dir, JournalName)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	j, err := journal.Open(name, journal.Header{Schema: Schema}, journal.Options{})
	if errors.Is(err, journal.ErrLocked) {
		return fmt.Errorf("record: %s is in use by another run; wait for it or choose another folder: %w", dir, err)
	}
	if err == nil {
		defer j.Close() // all of it is to go
	}
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// Records iterates over the records on disk in the order in which they were added.
func (l *Log) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if l.journal == nil {
			return
		}
		for entry, err := range l.journal.Records() {
			var r Record
			if err != nil {
				err = fmt.Errorf("record: %s: %w", l.journal.Path(), err)
			} else if r, err = decode(entry); err != nil {
				err = fmt.Errorf("record: %s: record %d: %w", l.journal.Path(), entry.Seq, err)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func decode(e journal.Record) (Record, error) {
	switch e.Kind {
	case kindSettings:
		return unmarshal[Settings](e.Payload)
	case kindIndex:
		return unmarshal[Index](e.Payload)
	case kindAnswer:
		return unmarshal[Answer](e.Payload)
	case kindJudgment:
		return unmarshal[Judgment](e.Payload)
	case kindClosing:
		return unmarshal[Closing](e.Payload)
	}
	return nil, fmt.Errorf("unknown kind %d", e.Kind)
}

func unmarshal[R Record](payload []byte) (Record, error) {
	var r R
	err := json.Unmarshal(payload, &r)
	return r, err
}

func (l *Log) keep(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records[r.key()] = r
}

// Add stores a record: on disk first, then in memory.
func (l *Log) Add(r Record) error {
	if l.journal != nil {
		payload, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		err = l.journal.Append(r.kind(), payload)
		if errors.Is(err, journal.ErrGone) {
			l.mu.Lock()
			defer l.mu.Unlock()
			lost := make(map[uint8]int)
			for _, r := range l.records {
				lost[r.kind()]++
			}
			return fmt.Errorf("record: %w; the %d answers and %d judgments in it are gone with it", err, lost[kindAnswer], lost[kindJudgment])
		}
		if err != nil {
			return fmt.Errorf("record: keeping a record (what is already kept stays; make room and start again): %w", err)
		}
	}
	l.keep(r)
	return nil
}

func get[R Record](l *Log, key any) (R, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.records[key].(R)
	return r, ok
}

// Settings returns the settings with a digest.
func (l *Log) Settings(digest string) (Settings, bool) { return get[Settings](l, digest) }

// Index returns the record of an index.
func (l *Log) Index(c Cell) (Index, bool) { return get[Index](l, indexKey(c)) }

// Answer returns the answer to a question.
func (l *Log) Answer(k Key) (Answer, bool) { return get[Answer](l, k) }

// Judgment returns a judge's verdict on the answer to a question for a case.
func (l *Log) Judgment(k Key, judge, shown string) (Judgment, bool) {
	return get[Judgment](l, judgmentKey{k, judge, shown})
}

// Closing returns the record of a finished cell.
func (l *Log) Closing(c Cell) (Closing, bool) { return get[Closing](l, closingKey(c)) }

// Recovered describes the folder as [Open] found it: its records and the bytes of an unfinished write.
func (l *Log) Recovered() (r journal.Recovery) {
	if l.journal != nil {
		r = l.journal.Recovered()
	}
	return r
}

// Close releases the folder.
func (l *Log) Close() error {
	if l.journal == nil {
		return nil
	}
	return l.journal.Close()
}
