// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/html"

	"github.com/wildgraph/wildgraph/graphrag"
)

// The fields of a file's place: its folder, "." at the top, and its extension. Scopes rest on them: no text sets them.
const (
	FieldFolder = "folder"
	FieldKind   = "kind"
)

// fieldsOf returns the fields of a file: its place, its front matter, and more, which wins. problem names lost keys.
func fieldsOf(name, text string, more graphrag.Fields) (f graphrag.Fields, problem error) {
	f = graphrag.Fields{FieldFolder: path.Dir(name), FieldKind: strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")}
	front := frontOf(strings.TrimPrefix(text, "\ufeff"))
	problem = front.problem
	for _, from := range []graphrag.Fields{front.fields, more} {
		for _, key := range slices.Sorted(maps.Keys(from)) {
			if slices.Contains([]string{FieldFolder, FieldKind, "file", "modified"}, key) {
				continue
			}
			old, was := f[key]
			f[key] = from[key]
			if err := f.Check(); err != nil {
				if delete(f, key); was {
					f[key] = old
				}
				problem = cmp.Or(problem, err)
			}
		}
	}
	return f, problem
}

// fieldValue is a value that a file writes in a text: a truth value, a number, a time, or the text.
func fieldValue(s string) any {
	if s == "true" || s == "false" {
		return s == "true"
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && n-n == 0 {
		if i, err := strconv.ParseInt(s, 10, 64); len(s) > 15 && (err != nil || int64(n) != i) && strings.Trim(s, "+-0123456789") == "" {
			return s // an identifier
		}
		return n
	}
	if t, ok := graphrag.ParseTime(s); ok {
		return t
	}
	return s
}

// addMeta adds what a meta element of a page's head says, if it has a name or a property of Open Graph.
func addMeta(f graphrag.Fields, z *html.Tokenizer, more bool) {
	of := map[string]string{}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		of[string(key)] = strings.TrimSpace(string(value))
	}
	name, content := of["name"]+of["property"], of["content"]
	switch {
	case name == "" || content == "" || name == "viewport" || len(f) == graphrag.MaxFields:
	case name == "keywords":
		keys := strings.Split(content, ",")
		for i, key := range keys {
			keys[i] = strings.TrimSpace(key)
		}
		f[name] = slices.DeleteFunc(keys, func(key string) bool { return key == "" })
	default:
		f[name] = fieldValue(content)
	}
}

// maxFront bounds front matter in bytes.
const maxFront = 64 << 10

// frontMatter is YAML between rules at the beginning of a text, TOML between +++, or JSON whose brackets are lines.
type frontMatter struct {
	end     int // offset of the text behind it, 0 if there is none
	fields  graphrag.Fields
	problem error // names a key that is not a field, or says why lines that look like front matter are none
}

// frontEnds are the lines behind front matter, by the line before.
var frontEnds = map[string]string{"---": "--- ...", "+++": "+++", "{": "}"}

// frontKey begins a line of front matter, tomlKey one of TOML, and tomlTable the lines of a table.
var (
	frontKey  = regexp.MustCompile(`^(?:[\pL\pN_.-]+|"[^"\n]*"|'[^'\n]*')[ \t]*[:=](?:\s|$)`)
	tomlKey   = regexp.MustCompile(`(?m)^[ \t]*([\pL\pN_.-]+|"[^"\n]*"|'[^'\n]*')[ \t]*=[ \t]*`)
	tomlTable = regexp.MustCompile(`(?m)^[ \t]*\[([^\[\]\n]+)\]`)
)

// frontOf reads front matter. A text that begins with a rule and has no key behind it has none.
func frontOf(s string) frontMatter {
	first := lineEnd(s, 0)
	mark := strings.TrimRight(s[:first], " \t\r\n")
	if frontEnds[mark] == "" || !strings.ContainsAny(s[first:min(len(s), first+maxFront)], ":=") {
		return frontMatter{}
	}
	end := first
	for at := first; ; {
		if at >= len(s) || at > maxFront {
			if frontKey.MatchString(s[first:min(len(s), first+maxTitle)]) && at > maxFront {
				return frontMatter{problem: fmt.Errorf("front matter of more than %d bytes, or without a rule at its end, is read as text", maxFront)}
			}
			return frontMatter{}
		}
		next := lineEnd(s, at)
		if line := strings.TrimRight(s[at:next], " \t\r\n"); slices.Contains(strings.Fields(frontEnds[mark]), line) {
			if end = next; mark == "{" && strings.HasPrefix(strings.TrimSpace(s[next:]), "{") { // records
				return frontMatter{}
			}
			s = s[:at]
			break
		}
		at = next
	}
	var doc yaml.Node
	source := s[first:]
	if mark == "{" {
		source = "{" + source + "}"
	} else if mark == "+++" { // tables are at the end
		at := append(tomlTable.FindStringIndex(source), len(source))[0]
		source = tomlKey.ReplaceAllString(source[:at], "$1: ") + tomlTable.ReplaceAllString(tomlKey.ReplaceAllString(source[at:], " $1: "), "$1:")
	}
	err := yaml.Unmarshal([]byte(source), &doc)
	switch {
	case err == nil && len(doc.Content) == 1 && doc.Content[0].Kind == yaml.MappingNode && len(doc.Content[0].Content) > 0:
		f := frontMatter{end: end, fields: graphrag.Fields{}}
		f.add("", doc.Content[0])
		return f
	case err != nil && frontKey.MatchString(s[first:]):
		return frontMatter{problem: fmt.Errorf("front matter that is no YAML is read as text: %s", strings.TrimPrefix(err.Error(), "yaml: "))}
	}
	return frontMatter{}
}

// add adds the values of a mapping, of those in it with the names of both and a dot between.
func (f *frontMatter) add(prefix string, n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := prefix+n.Content[i].Value, n.Content[i+1]
		if _, twice := f.fields[key]; twice {
			f.fail(key, errors.New("stands there twice"))
			continue
		}
		switch value.Kind {
		case yaml.MappingNode:
			f.add(key+".", value)
		case yaml.ScalarNode:
			if v := scalar(value); v != nil {
				f.fields[key] = v
			}
		case yaml.SequenceNode:
			list := []string{}
			for _, item := range value.Content {
				if item.Kind != yaml.ScalarNode {
					f.fail(key, errors.New("is a list of what is no text"))
				} else if item.Value != "" {
					list = append(list, item.Value)
				}
			}
			f.fields[key] = list
		default:
			f.fail(key, errors.New("refers to another value"))
		}
	}
}

func (f *frontMatter) fail(key string, err error) {
	if f.problem == nil {
		f.problem = fmt.Errorf("the key %.80q of the front matter %w", key, err)
	}
}

// scalar is a truth value, a number, a time or a text; nil of null. What is quoted is a text.
func scalar(n *yaml.Node) any {
	text := strings.TrimSpace(n.Value)
	switch tag := n.ShortTag(); {
	case tag == "!!null":
		return nil
	case tag == "!!bool":
		return strings.EqualFold(text, "true")
	case tag == "!!int" || tag == "!!float":
		var v float64
		if err := n.Decode(&v); err == nil && v-v == 0 {
			return v
		}
	case n.Style == 0:
		if t, ok := graphrag.ParseTime(text); ok {
			return t
		}
	}
	return text
}
