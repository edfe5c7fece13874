// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/llm/journal"
)

// Schema is the version of the records in a run's journal.
const Schema = "wildgraph-run/2"

// JournalName is the journal's file name in the report folder.
const JournalName = "run.journal"

// The kinds of records in a journal.
const (
	kindIndex uint8 = iota + 1
	kindAnswer
	kindJudgment
	kindCell
)

// ErrOtherConfig is wrapped by the error about a folder that holds records of
// another configuration.
var ErrOtherConfig = errors.New("the folder holds a run of another configuration")

// runLog is what is known of a run: the records, in memory and, when there is
// a folder, on disk. It is safe for concurrent use.
type runLog struct {
	journal *journal.Journal // nil: nothing is kept

	mu        sync.Mutex
	indexes   map[cell]IndexRecord
	answers   map[place]AnswerRecord
	judgments map[place]JudgmentRecord
	cells     map[cell]CellRecord
}

// openLog reads the records of a folder, or starts new ones. dir "" keeps the
// records in memory only.
func openLog(dir string, config Config) (*runLog, error) {
	l := &runLog{
		indexes:   make(map[cell]IndexRecord),
		answers:   make(map[place]AnswerRecord),
		judgments: make(map[place]JudgmentRecord),
		cells:     make(map[cell]CellRecord),
	}
	if dir == "" {
		return l, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("benchmark: report folder: %w", err)
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("benchmark: configuration: %w", err)
	}
	j, err := journal.Open(filepath.Join(dir, JournalName), journal.Header{Schema: Schema, Config: string(text)}, journal.Options{})
	var mismatch *journal.MismatchError
	switch {
	case errors.As(err, &mismatch):
		return nil, fmt.Errorf("benchmark: %s: %w (%s); choose another folder or remove this one",
			dir, ErrOtherConfig, differences(mismatch.Have, mismatch.Want))
	case errors.Is(err, journal.ErrLocked):
		return nil, fmt.Errorf("benchmark: %s is in use by another run; wait for it or choose another folder: %w", dir, err)
	case err != nil:
		return nil, fmt.Errorf("benchmark: %w", err)
	}
	l.journal = j
	if err := l.replay(); err != nil {
		return nil, errors.Join(fmt.Errorf("benchmark: %s: %w", j.Path(), err), j.Close())
	}
	return l, nil
}

// differences lists the settings in which two configurations differ.
func differences(have, want journal.Header) string {
	if have.Schema != want.Schema {
		return fmt.Sprintf("its records are %s, this program writes %s", have.Schema, want.Schema)
	}
	var a, b map[string]any
	if json.Unmarshal([]byte(have.Config), &a) != nil || json.Unmarshal([]byte(want.Config), &b) != nil {
		return "it cannot be read"
	}
	keys := make(map[string]bool)
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		there, here := compact(a[k]), compact(b[k])
		if there != here {
			out = append(out, fmt.Sprintf("%s: %s there, %s here", k, there, here))
		}
	}
	return strings.Join(out, "; ")
}

// compact renders a setting for a message.
func compact(v any) string {
	if v == nil {
		return "nothing"
	}
	text, _ := json.Marshal(v)
	if len(text) > 120 {
		return string(text[:120]) + "…"
	}
	return string(text)
}

func (l *runLog) replay() error {
	for r, err := range l.journal.Records() {
		if err != nil {
			return err
		}
		switch r.Kind {
		case kindIndex:
			err = replayOne(r.Payload, l.indexes, func(v IndexRecord) cell { return cell{v.System, v.Domain} })
		case kindAnswer:
			err = replayOne(r.Payload, l.answers, func(v AnswerRecord) place { return place{v.System, v.Domain, v.ID, v.Sweep} })
		case kindJudgment:
			err = replayOne(r.Payload, l.judgments, func(v JudgmentRecord) place { return place{v.System, v.Domain, v.ID, v.Sweep} })
		case kindCell:
			err = replayOne(r.Payload, l.cells, func(v CellRecord) cell { return cell{v.System, v.Domain} })
		default:
			err = fmt.Errorf("unknown kind %d", r.Kind)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", r.Seq, err)
		}
	}
	return nil
}

func replayOne[K comparable, V any](payload []byte, into map[K]V, key func(V) K) error {
	var v V
	if err := json.Unmarshal(payload, &v); err != nil {
		return err
	}
	into[key(v)] = v
	return nil
}

// add keeps a record: on disk first, then in memory.
func add[K comparable, V any](l *runLog, kind uint8, into map[K]V, key K, v V) error {
	if l.journal != nil {
		payload, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("benchmark: record: %w", err)
		}
		if err := l.journal.Append(kind, payload); err != nil {
			return fmt.Errorf("benchmark: keeping a record (what is already kept stays; make room and start again): %w", err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	into[key] = v
	return nil
}

func get[K comparable, V any](l *runLog, from map[K]V, key K) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := from[key]
	return v, ok
}

func (l *runLog) addIndex(r IndexRecord) error {
	return add(l, kindIndex, l.indexes, cell{r.System, r.Domain}, r)
}

func (l *runLog) addAnswer(r AnswerRecord) error {
	return add(l, kindAnswer, l.answers, place{r.System, r.Domain, r.ID, r.Sweep}, r)
}

func (l *runLog) addJudgment(r JudgmentRecord) error {
	return add(l, kindJudgment, l.judgments, place{r.System, r.Domain, r.ID, r.Sweep}, r)
}

func (l *runLog) addCell(r CellRecord) error {
	return add(l, kindCell, l.cells, cell{r.System, r.Domain}, r)
}

func (l *runLog) close() error {
	if l.journal == nil {
		return nil
	}
	return l.journal.Close()
}
