// SPDX-License-Identifier: Apache-2.0

// Package all is the registry of the systems under examples/baselines.
package all

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/examples/baselines/agentic"
	"github.com/wildgraph/wildgraph/examples/baselines/e2graphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/examples/baselines/gretriever"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/baselines/linearrag"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/raptor"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm"
)

// System is a published system, or one of our own, with its settings.
type System struct {
	kit.Info
	agent   any // options of the agent around the system, of type looped; nil without
	changes []change
	graph   *triples.Index
	models  func(name string) (llm.Model, error)
	build   func(k kit.Kit, options ...any) (*kit.System, error)
}

// Is reports whether the system has this name or alias.
func (s System) Is(name string) bool { return s.Name == name || slices.Contains(s.Also, name) }

// Systems lists the systems in the order of reports.
func Systems() []System {
	return ofInfos(slices.Concat(
		[]kit.Info{flat.Infos[1], flat.Infos[0], wild.Info, fastgraphrag.Info}, msgraphrag.Infos, lightrag.Infos,
		[]kit.Info{hipporag.Info, hipporag.InfoIRCoT, hipporag2.Info, linearrag.Info}, youtu.Infos, gear.Infos,
		[]kit.Info{raptor.Info, e2graphrag.Info, gretriever.Info, flat.Infos[2]},
	))
}

func ofInfos(infos []kit.Info) (out []System) {
	for _, i := range infos {
		out = append(out, System{Info: i, build: func(k kit.Kit, o ...any) (*kit.System, error) { return i.New(k, o[0]) }})
	}
	return out
}

// Variants lists systems with a part left out, for ablations. They run only if they are named.
func Variants() []System { return ofInfos(youtu.Variants) }

// looped are the options of an agent around a system.
type looped struct{ Agent agentic.Loop }

// Agents lists the agents around the systems, named "agentic:" and the system, and the systems without
// an index, "files" and "context". They run only if they are named, because they read the most.
func Agents() []System {
	out := ofInfos(agentic.Infos)
	for _, s := range Systems() {
		if s.NoDocuments {
			continue
		}
		build := s.build
		s.agent = looped{}
		s.build = func(k kit.Kit, options ...any) (*kit.System, error) {
			inner, err := build(k, options[0])
			if err != nil {
				return nil, fmt.Errorf("%s%w", agentic.Prefix, err)
			}
			return agentic.Around(inner, options[1].(looped).Agent)
		}
		s.Name, s.Also, s.NeedsModel = agentic.Prefix+s.Name, nil, true
		s.Calls.Question += 2 // one turn that searches and one that answers
		out = append(out, s)
	}
	return out
}

func all() []System { return slices.Concat(Systems(), Variants(), Agents()) }

// Names lists all names of all systems, variants and agents, in the order of reports.
func Names() (names []string) {
	for _, s := range all() {
		names = append(append(names, s.Name), s.Also...)
	}
	return names
}

// Shown lists the names for a message to users. It names agents only by their prefix.
func Shown(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.HasPrefix(n, agentic.Prefix) })
	return strings.Join(names, ", ") + "; and " + agentic.Prefix + "NAME, an agent that searches by it"
}

// Find returns the system with a name or alias.
func Find(name string) (System, bool) {
	for _, s := range all() {
		if s.Is(name) {
			return s, true
		}
	}
	return System{}, false
}

// Option is one setting of a system that can be changed by name.
type Option struct {
	Name    string // e.g. "paths.depth"
	Kind    string // of its values, e.g. "a whole number"
	Default string
	Source  string // source of the default
}

// Options lists the settings of the system, in the order of its package. The name of a field of a nested struct
// is the name of the struct, a point and the name of the field.
func (s System) Options() []Option {
	var out []Option
	parts := s.parts()
	for i := range parts {
		parts[i] = defaults(parts[i])
	}
	walkAll(parts, func(f field) {
		o := Option{f.name, kindOf(f.value.Type()), fmt.Sprint(f.value.Interface()), f.source}
		if f.value.Kind() == reflect.Slice {
			o.Default = strings.Join(f.value.Interface().([]string), ",")
		}
		if f.value.Kind() == reflect.Pointer || f.value.Kind() == reflect.Interface {
			o.Default = ""
		}
		out = append(out, o)
	})
	return out
}

// With returns the system with one of its options changed; names are compared in lower
// case. [System.New] checks the range of the value.
func (s System) With(option, value string) (System, error) {
	var c change
	var err error
	walkAll(s.parts(), func(f field) {
		if strings.EqualFold(f.name, option) {
			c, err = change{f.name, f.value}, parse(f.value, value)
		}
	})
	switch {
	case err != nil:
		return s, fmt.Errorf("%s.%s: %w", s.Name, c.option, err)
	case c.option == "":
		return s, fmt.Errorf("%s has no option %q%s", s.Name, option, s.likely(option))
	}
	s.changes = append(slices.Clip(s.changes), c)
	return s, nil
}

// WithGraph returns the system over a graph from elsewhere. Its option "graph" has precedence.
func (s System) WithGraph(ix *triples.Index) System {
	s.graph = ix
	return s
}

// WithModels returns the system with the server of the models that its options name.
func (s System) WithModels(models func(name string) (llm.Model, error)) System {
	s.models = models
	return s
}

// named is a placeholder for the model in an option until there is a server to open it.
type named struct {
	llm.Model
	name string
}

// value returns the new value of an option. It opens a model that the option names.
func (s System) value(c change) (reflect.Value, error) {
	n, ok := c.value.Interface().(named)
	if !ok {
		return c.value, nil
	}
	if s.models == nil {
		return c.value, fmt.Errorf("%s.%s=%s: a model needs a server: name it with -model NAME", s.Name, c.option, n.name)
	}
	m, err := s.models(n.name)
	if err != nil {
		return c.value, fmt.Errorf("%s.%s: %w", s.Name, c.option, err)
	}
	return reflect.ValueOf(m), nil
}

// Lacks describes the missing input of the system, "" if it can run.
func (s System) Lacks() string {
	if s.NeedsGraph && s.graph == nil && !slices.ContainsFunc(s.changes, func(c change) bool { return c.option == "graph" }) {
		return "needs a graph from elsewhere: -kg PATH"
	}
	return ""
}

// likely suggests the first option whose last part begins with the last part of a name.
func (s System) likely(option string) string {
	last := func(name string) string { return strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]) }
	for _, o := range s.Options() {
		if asked := last(option); asked != "" && strings.HasPrefix(last(o.Name), asked) {
			return fmt.Sprintf(": did you mean %q?", o.Name)
		}
	}
	return ": -list-options lists what there is"
}

// New makes the system from a kit, with the settings of its paper, of c, and those that With changed.
func (s System) New(k kit.Kit, c kit.Common) (*kit.System, error) {
	parts := s.parts()
	o := parts[0]
	o.FieldByName("Common").Set(reflect.ValueOf(c))
	if s.NeedsGraph {
		o.FieldByName("Graph").Set(reflect.ValueOf(s.graph))
	}
	for _, c := range s.changes {
		v, err := s.value(c)
		if err != nil {
			return nil, err
		}
		walkAll(parts, func(f field) {
			if f.name == c.option {
				f.value.Set(v)
			}
		})
	}
	options := []any{o.Interface()}
	for _, p := range parts[1:] {
		options = append(options, p.Interface())
	}
	return s.build(k, options...)
}

// parts returns copies of the structs of options: of the system, and of the agent around it.
func (s System) parts() (out []reflect.Value) {
	for _, o := range []any{s.Info.Options, s.agent} {
		if o != nil {
			part := reflect.New(reflect.TypeOf(o)).Elem()
			part.Set(reflect.ValueOf(o))
			out = append(out, part)
		}
	}
	return out
}

func walkAll(parts []reflect.Value, visit func(field)) {
	for _, p := range parts {
		walk(p, "", "", visit)
	}
}

// Changes returns the options that With changed, as a run records them. A graph is recorded by its number of
// triples.
func (s System) Changes() map[string]any {
	out := make(map[string]any)
	for _, c := range s.changes {
		switch v := c.value.Interface().(type) {
		case *triples.Index:
			out[c.option] = fmt.Sprintf("%d triples of %d entities", v.Len(), v.Entities())
		case *extract.Schema:
			out[c.option] = v.Plain()
		case named:
			out[c.option] = v.name
		default:
			out[c.option] = v
		}
	}
	return out
}

// change is an option with its new value.
type change struct {
	option string
	value  reflect.Value
}

// field is a field of a struct of options, or of a struct nested in one.
type field struct {
	name, source string
	value        reflect.Value
}

// walk visits the fields that can be set. Fields of an embedded struct count as fields of v. The source of a
// value is in the tag of its field, or of the struct that contains the field.
func walk(v reflect.Value, source, prefix string, visit func(field)) {
	for i := range v.NumField() {
		t := v.Type().Field(i)
		f := field{prefix + uncapitalized(t.Name), cmp.Or(t.Tag.Get("source"), source), v.Field(i)}
		switch {
		case !t.IsExported() || f.source == "-":
		case t.Anonymous:
			walk(f.value, f.source, prefix, visit)
		case f.value.Kind() == reflect.Struct:
			walk(f.value, f.source, f.name+".", visit)
		case kindOf(t.Type) != "":
			visit(f)
		}
	}
}

// uncapitalized returns a name that begins with a small letter. Of capitals at the beginning only the first
// letter of a second word stays: bm25, asciiPhrases.
func uncapitalized(name string) string {
	n := 1
	for n < len(name) && unicode.IsUpper(rune(name[n])) && !(n+1 < len(name) && unicode.IsLower(rune(name[n+1]))) {
		n++
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// defaults returns options whose zero values are replaced by the defaults in tags and of the method Defaults,
// in nested structs too.
func defaults(options reflect.Value) reflect.Value {
	out := reflect.New(options.Type()).Elem()
	out.Set(options)
	new(kit.Checks).Fill(out.Addr().Interface())
	if m := out.MethodByName("Defaults"); m.IsValid() {
		out.Set(m.Call(nil)[0])
	}
	for i := range out.NumField() {
		if f := out.Field(i); f.Kind() == reflect.Struct && out.Type().Field(i).IsExported() {
			f.Set(defaults(f))
		}
	}
	return out
}

// kindOf describes the values of a type, "" if a text cannot set them.
func kindOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[*triples.Index]():
		return "a graph: the path of its file or folder"
	case reflect.TypeFor[*extract.Schema]():
		return "a schema: the path of its file, or the name of one that is shipped"
	case reflect.TypeFor[llm.Model]():
		return "a model of the server: its name"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return "texts, with commas between"
		}
	}
	return ""
}

// parse sets a field to the value that a text names.
func parse(to reflect.Value, s string) (err error) {
	switch to := to.Addr().Interface().(type) {
	case **triples.Index:
		*to, err = triples.Load(context.Background(), s, nil)
		return err
	case **extract.Schema:
		*to, err = readSchema(s)
		return err
	case *llm.Model:
		if *to = (named{name: s}); s == "" {
			return errors.New("the name of the model is empty")
		}
		return nil
	}
	switch to.Kind() {
	case reflect.Bool:
		var v bool
		v, err = strconv.ParseBool(s)
		to.SetBool(v)
	case reflect.Int, reflect.Int32, reflect.Int64:
		var v int64
		v, err = strconv.ParseInt(s, 10, to.Type().Bits())
		to.SetInt(v)
	case reflect.Uint64:
		var v uint64
		v, err = strconv.ParseUint(s, 10, 64)
		to.SetUint(v)
	case reflect.Float64:
		var v float64
		v, err = strconv.ParseFloat(s, 64)
		to.SetFloat(v)
	case reflect.String:
		to.SetString(s)
	case reflect.Slice:
		to.Set(reflect.ValueOf(strings.Split(s, ",")))
	}
	if err != nil {
		return fmt.Errorf("%q is not %s", s, kindOf(to.Type()))
	}
	return nil
}

// readSchema reads the schema that is shipped for a data set, or else a file.
func readSchema(name string) (*extract.Schema, error) {
	const mostSchema = 1 << 20 // largest size of a schema, in bytes
	var f io.ReadCloser
	f, err := youtu.Seeds.Open("seeds/" + strings.ToLower(name) + ".json")
	if err != nil {
		f, err = os.Open(name)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w, and no schema of this name is shipped: there are %s", err, strings.Join(youtu.SeedNames(), ", "))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	s, err := extract.ReadSchema(io.LimitReader(f, mostSchema))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &s, nil
}
