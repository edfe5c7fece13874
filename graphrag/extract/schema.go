// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// Schema limits an extraction (Youtu-GraphRAG, arXiv 2508.19855, equation 1): to these types of entities,
// relations between entities, and keys of attributes. The decomposition of questions uses the same schema.
type Schema struct {
	EntityTypes []SchemaItem
	Relations   []SchemaItem
	Attributes  []SchemaItem
}

// SchemaItem is one entity type, relation or attribute key of a schema.
type SchemaItem struct {
	Name string
	// Aliases are other spellings or synonyms of Name.
	Aliases []string
}

// ReadSchema reads the JSON form: an object of three lists of names, Nodes, Relations and Attributes. It
// ignores the field that [Growth] adds. An error names the line if it is known.
func ReadSchema(r io.Reader) (Schema, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Schema{}, fmt.Errorf("extract: reading a schema: %w", err)
	}
	var plain struct {
		Nodes, Relations, Attributes []string
		Growth                       json.RawMessage
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&plain); err != nil {
		line := 1 + bytes.Count(data[:min(dec.InputOffset(), int64(len(data)))], []byte("\n"))
		return Schema{}, fmt.Errorf("extract: reading a schema: line %d: want an object of the lists Nodes, Relations and Attributes: %w", line, err)
	}
	if dec.More() {
		return Schema{}, errors.New("extract: reading a schema: text follows the JSON object: remove it")
	}
	s := Schema{items(plain.Nodes), items(plain.Relations), items(plain.Attributes)}
	if len(s.EntityTypes) == 0 {
		return s, errors.New("extract: reading a schema: Nodes has no name: want one type of entities or more")
	}
	return s, s.check(func(name string) string {
		quoted, _ := json.Marshal(name) // marshalling a string cannot fail
		if at := bytes.LastIndex(data, quoted); at >= 0 {
			return fmt.Sprintf("line %d: ", 1+bytes.Count(data[:at], []byte("\n")))
		}
		return ""
	})
}

func items(names []string) []SchemaItem {
	out := make([]SchemaItem, len(names))
	for i, n := range names {
		out[i].Name = n
	}
	return out
}

// Plain returns the names of the three lists, by the keys that ReadSchema reads.
func (s Schema) Plain() map[string][]string {
	names := func(of []SchemaItem) []string {
		out := make([]string, len(of))
		for i, it := range of {
			out[i] = it.Name
		}
		return out
	}
	return map[string][]string{"Nodes": names(s.EntityTypes), "Relations": names(s.Relations), "Attributes": names(s.Attributes)}
}

// check reports empty names, and names that two items of a list have. at returns the place of a name in the
// file for the message; it may be nil.
func (s Schema) check(at func(name string) string) error {
	if at == nil {
		at = func(string) string { return "" }
	}
	var problems []error
	for _, list := range []struct {
		name string
		of   []SchemaItem
	}{{"entity type", s.EntityTypes}, {"relation", s.Relations}, {"attribute", s.Attributes}} {
		seen := make(map[string]string)
		for _, it := range list.of {
			for _, name := range append([]string{it.Name}, it.Aliases...) {
				key := foldItem(name)
				if key == "" {
					problems = append(problems, fmt.Errorf("extract: schema: %sa name of %s %q is empty", at(name), list.name, it.Name))
				} else if first, ok := seen[key]; ok && (first != it.Name || at(name) != "") {
					problems = append(problems, fmt.Errorf("extract: schema: %s%q names both %s %q and %q", at(name), name, list.name, first, it.Name))
				}
				seen[key] = it.Name
			}
		}
	}
	return errors.Join(problems...)
}

// foldItem returns a name in lower case with blanks for underscores: names that are equal so are the same.
func foldItem(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(s), "_", " ")), " ")
}

// Name returns the Name of the entity type, relation or attribute with a name or alias, in any spelling.
func (s Schema) Name(of string) (string, bool) {
	b := s.bounds()
	for _, list := range []map[string]SchemaItem{b.types, b.relations, b.attributes} {
		if it, ok := list[foldItem(of)]; ok {
			return it.Name, true
		}
	}
	return "", false
}

// bounds holds the items of a schema by their folded names and aliases.
type bounds struct{ types, relations, attributes map[string]SchemaItem }

func (s Schema) bounds() bounds {
	by := func(of []SchemaItem) map[string]SchemaItem {
		out := make(map[string]SchemaItem, len(of))
		for _, it := range of {
			for _, name := range append([]string{it.Name}, it.Aliases...) {
				if _, ok := out[foldItem(name)]; !ok {
					out[foldItem(name)] = it
				}
			}
		}
		return out
	}
	return bounds{by(s.EntityTypes), by(s.Relations), by(s.Attributes)}
}

// apply replaces names in an extraction by the names of the schema. It records a problem for each name that the
// schema lacks: the type of an entity, a relation, the key of an attribute (equation 2); and, if typed is set
// or an entity has a type, for each fact with an untyped end. If strict is set it also drops these.
func (s bounds) apply(x *kg.Extraction, strict, typed bool) {
	types := make(map[string]string, len(x.Mentions))
	for i := range x.Mentions {
		m := &x.Mentions[i]
		typed = typed || m.Type != ""
		switch it, ok := s.types[foldItem(m.Type)]; {
		case ok:
			m.Type = it.Name
			types[kg.FoldUnicode.Key(m.Name)] = it.Name
		case m.Type != "":
			problem(x, "schema", m.Name+" is a "+m.Type, "the type is not in the schema")
			if strict {
				m.Type = ""
			}
		}
	}
	x.Facts = slices.DeleteFunc(x.Facts, func(f kg.Fact) bool {
		why := s.allows(f, types, typed)
		if why != "" {
			problem(x, "schema", f.Head+" | "+f.Relation+" | "+f.Tail, why)
		}
		return strict && why != ""
	})
	for i := range x.Facts {
		if it, ok := s.relations[foldItem(x.Facts[i].Relation)]; ok {
			x.Facts[i].Relation = it.Name
		}
	}
	dropRepeated(x) // facts may now be equal that differed in the spelling of a relation
	x.Attributes = slices.DeleteFunc(x.Attributes, func(a kg.Attribute) bool {
		_, ok := s.attributes[foldItem(a.Key)]
		if !ok {
			problem(x, "schema", a.Entity+" | "+a.Key+" | "+a.Value, "the attribute is not in the schema")
		}
		return strict && !ok
	})
	for i := range x.Attributes {
		if it, ok := s.attributes[foldItem(x.Attributes[i].Key)]; ok {
			x.Attributes[i].Key = it.Name
		}
	}
}

// allows returns the reason why the schema does not allow a fact, "" if the schema allows it.
func (s bounds) allows(f kg.Fact, types map[string]string, typed bool) string {
	lacks := func(name string) bool { return typed && types[kg.FoldUnicode.Key(name)] == "" }
	switch _, ok := s.relations[foldItem(f.Relation)]; {
	case !ok:
		return "the relation is not in the schema"
	case lacks(f.Head):
		return "the subject has no type of the schema"
	case lacks(f.Tail):
		return "the object has no type of the schema"
	}
	return ""
}

// Limits of the sample of the corpus that Induce shows to the model, and of the schema it returns.
const (
	induceSample = 8
	induceBytes  = 2000 // most bytes of a chunk in the sample
	maxTypes     = 24
	maxRelations = 40
	maxKeys      = 32
	maxItem      = 60 // most bytes of a name in the schema
)

// Induce has a model make a schema for a corpus, by one call that shows the beginnings of some documents. The
// documents are chosen by the hashes of their IDs, so that adding or removing one rarely changes the sample. An
// unusable reply or a refusal is an error for which llm.OfOneReply is true. Without chunks the schema is empty.
func Induce(ctx context.Context, m llm.Model, chunks []graphrag.Chunk) (Schema, error) {
	shown := sample(chunks)
	if m == nil {
		return Schema{}, errors.New("extract: the model that makes a schema is missing")
	}
	if len(shown) == 0 {
		return Schema{}, nil
	}
	texts := make([]string, len(shown))
	for i, c := range shown {
		texts[i] = passage(c).Text
		if len(texts[i]) > induceBytes {
			texts[i] = strings.ToValidUTF8(texts[i][:induceBytes], "")
		}
	}
	req, err := templates.Request(ctx, StageInduce, "induce", map[string]any{"Types": maxTypes, "Relations": maxRelations, "Attributes": maxKeys},
		prompts.Data{Label: "passages", Text: strings.Join(texts, "\n\n---\n\n")})
	if err != nil {
		return Schema{}, err
	}
	reply, _, err := replies.Decode[induced](ctx, m, req)
	if err != nil {
		return Schema{}, fmt.Errorf("extract: making a schema: %w", err)
	}
	return Schema{itemNames(reply.Nodes, maxTypes), itemNames(reply.Relations, maxRelations), itemNames(reply.Attributes, maxKeys)}, nil
}

// induced is the model's reply to Induce.
type induced struct {
	Nodes      []string `json:"Nodes"`
	Relations  []string `json:"Relations"`
	Attributes []string `json:"Attributes"`
}

// Check makes replies.Decode reject a reply without entity types.
func (s induced) Check() error {
	if len(itemNames(s.Nodes, 1)) == 0 {
		return errors.New(`the list "Nodes" has no name`)
	}
	return nil
}

// itemNames returns the usable names of a list, each once, at most the given number of them.
func itemNames(found []string, most int) []SchemaItem {
	var out []SchemaItem
	for _, written := range found {
		name := strings.Join(strings.Fields(prompts.Printable(written)), " ")
		again := func(it SchemaItem) bool { return foldItem(it.Name) == foldItem(name) }
		if len(name) <= maxItem && !slices.ContainsFunc(out, again) && strings.ContainsFunc(name, unicode.IsLetter) && len(out) < most {
			out = append(out, SchemaItem{Name: name})
		}
	}
	return out
}

// sample returns the first chunks of the documents whose IDs have the smallest hashes.
func sample(chunks []graphrag.Chunk) []graphrag.Chunk {
	type candidate struct {
		hash  [sha256.Size]byte
		chunk graphrag.Chunk
	}
	first := make(map[string]graphrag.Chunk)
	for _, c := range chunks {
		if old, ok := first[c.Doc]; strings.TrimSpace(c.Text) != "" && (!ok || c.ID < old.ID) {
			first[c.Doc] = c
		}
	}
	var all []candidate
	for doc, c := range first {
		all = append(all, candidate{sha256.Sum256([]byte(doc)), c})
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.chunk.Doc, b.chunk.Doc))
	})
	var out []graphrag.Chunk
	for _, c := range all[:min(induceSample, len(all))] {
		out = append(out, c.chunk)
	}
	return out
}
