// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// TSV reads lines of head, relation and tail by their names, between tabs. name is
// that of the file in errors, here and below.
func TSV(name string, in io.Reader) *Reader {
	return &Reader{name: name, in: in, parse: func(line string) (Triple, error) {
		f, err := fields(line, 3)
		if err != nil {
			return Triple{}, err
		}
		return triple(named(f[0]), named(f[1]), named(f[2]), false)
	}}
}

// Wikidata5M reads lines of the ids of head, relation and tail, between tabs; what
// they are called is read before, by [ReadLabels]. An id without a label has itself.
func Wikidata5M(name string, in io.Reader, entities, relations Labels) *Reader {
	return &Reader{name: name, in: in, parse: func(line string) (Triple, error) {
		f, err := fields(line, 3)
		if err != nil {
			return Triple{}, err
		}
		return triple(entities.of(f[0]), relations.of(f[1]), entities.of(f[2]), false)
	}}
}

// JSONL reads objects with the keys h, r and t, each a name or an object of id and
// label. "literal": true says that t is a value.
func JSONL(name string, in io.Reader) *Reader {
	return &Reader{name: name, in: in, parse: func(line string) (Triple, error) {
		var v struct {
			H, R, T jsonEntity
			Literal bool
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return Triple{}, err
		}
		return triple(Entity(v.H), Entity(v.R), Entity(v.T), v.Literal)
	}}
}

type jsonEntity Entity

func (e *jsonEntity) UnmarshalJSON(data []byte) error {
	var name string
	if json.Unmarshal(data, &name) == nil {
		*e = jsonEntity(named(name))
		return nil
	}
	var v struct{ ID, Label string }
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf(`%.40s, want a name or {"id": …, "label": …}`, data)
	}
	if *e = jsonEntity(v); e.Label == "" {
		e.Label = e.ID
	}
	return nil
}

func named(s string) Entity {
	s = strings.TrimSpace(s)
	return Entity{s, s}
}

func fields(line string, n int) ([]string, error) {
	f := strings.Split(line, "\t")
	if len(f) != n {
		return nil, fmt.Errorf("%d fields between tabs, want %d", len(f), n)
	}
	return f, nil
}

// Labels are what things are called, by their ids.
type Labels map[string]string

func (l Labels) of(id string) Entity {
	id = strings.TrimSpace(id)
	if label := l[id]; label != "" {
		return Entity{id, label}
	}
	return Entity{id, id}
}

// ReadLabels reads lines of an id and the names of a thing, between tabs, the first of
// which is its label: Wikidata5M's files of entities and relations.
func ReadLabels(name string, in io.Reader) (Labels, Bad, error) {
	labels := Labels{}
	bad, err := readLabels(name, in, func(line string) error {
		id, names, ok := strings.Cut(line, "\t")
		if !ok {
			return errors.New("an id without a name")
		}
		first, _, _ := strings.Cut(names, "\t")
		return labels.add(strings.TrimSpace(id), first)
	})
	return labels, bad, err
}

// add keeps the first label of an id.
func (l Labels) add(id, name string) error {
	name, err := label(name)
	if err == nil && id == "" {
		err = errors.New("an empty id")
	}
	if _, ok := l[id]; err == nil && !ok {
		l[id] = name
	}
	return err
}

func readLabels(name string, in io.Reader, add func(line string) error) (bad Bad, err error) {
	for line, err := range lines(in) {
		if err != nil && !errors.Is(err, errLong) {
			return bad, fmt.Errorf("%s:%d: %w", name, line.number, err)
		}
		if err == nil {
			err = add(line.text)
		}
		if err != nil && !errors.Is(err, errSkip) {
			bad.add(name, line.number, err)
		}
	}
	return bad, nil
}
