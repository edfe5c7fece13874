// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"encoding/json"
)

// smallest is a small JSON value that fits a simple schema: required
// properties only, the first of an enum, empty lists and strings. An empty
// schema gives {}.
func smallest(schema json.RawMessage) string {
	var s any
	if json.Unmarshal(schema, &s) != nil {
		return "{}"
	}
	b, err := json.Marshal(instance(s, 0))
	if err != nil {
		return "{}"
	}
	return string(b)
}

func instance(schema any, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok || depth > 20 {
		return map[string]any{}
	}
	if enum, ok := s["enum"].([]any); ok && len(enum) > 0 {
		return enum[0]
	}
	if c, ok := s["const"]; ok {
		return c
	}
	for _, name := range []string{"anyOf", "oneOf", "allOf"} {
		if of, ok := s[name].([]any); ok && len(of) > 0 {
			return instance(of[0], depth+1)
		}
	}
	kind := s["type"]
	if kinds, ok := kind.([]any); ok && len(kinds) > 0 {
		kind = kinds[0]
	}
	switch kind {
	case "array":
		n, _ := s["minItems"].(float64)
		items := make([]any, int(min(max(n, 0), 100)))
		for i := range items {
			items[i] = instance(s["items"], depth+1)
		}
		return items
	case "string":
		return ""
	case "number", "integer":
		n, _ := s["minimum"].(float64)
		return n
	case "boolean":
		return false
	case "null":
		return nil
	}
	object := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, r := range required {
		if name, ok := r.(string); ok {
			object[name] = instance(properties[name], depth+1)
		}
	}
	return object
}
