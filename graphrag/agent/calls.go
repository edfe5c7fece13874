// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm"
)

// calling is a model whose calls of tools are read in all usual forms.
type calling struct{ llm.Model }

func (c calling) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	reply, err := c.Model.Generate(ctx, req)
	reply.Text = uniform(reply.Text)
	return reply, err
}

// uniform returns a reply with its calls in the form of the prompt: calls at the top level,
// several objects, and the usual keys of other programs are read. Other replies stay as they are.
func uniform(reply string) string {
	rest, _, _ := llm.SplitThinking(reply)
	var move map[string]any
	var calls []any
	for at := strings.IndexByte(rest, '{'); at >= 0; at = strings.IndexByte(rest, '{') {
		d := json.NewDecoder(strings.NewReader(rest[at:]))
		d.UseNumber()
		var object map[string]any
		if d.Decode(&object) != nil {
			break
		}
		rest = rest[at+int(d.InputOffset()):]
		if c := called(object); c != nil {
			calls = append(calls, c)
			continue
		}
		list, _ := object["calls"].([]any)
		for _, x := range list {
			if c := called(x); c != nil {
				x = c
			}
			calls = append(calls, x)
		}
		if move == nil {
			move = object
		}
	}
	if move == nil && calls == nil && reader.IsRefusal("", rest) { // it gives up in plain words
		move, calls = map[string]any{"answer": strings.TrimSpace(rest)}, []any{}
	}
	if calls == nil {
		return reply
	}
	if move == nil {
		move = map[string]any{"thought": ""}
	}
	move["calls"] = calls
	out, err := json.Marshal(move)
	if err != nil {
		return reply
	}
	return string(out)
}

// The usual keys of a call and of its arguments.
var (
	toolKeys     = []string{"tool", "tool_name", "name", "function", "function_call", "action"}
	argumentKeys = []string{"arguments", "args", "parameters", "params", "input", "action_input", "tool_input"}
	mainKeys     = map[string]string{ToolSearch: "query", ToolRead: "source", ToolFind: "pattern", ToolAnswer: "answer"}
)

// called returns a call in the form of [Call], nil of a value that is none.
func called(v any) map[string]any {
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for _, k := range toolKeys {
		if inner := called(object[k]); inner != nil {
			return inner
		}
		name, ok := object[k].(string)
		if !ok {
			continue
		}
		if slices.Contains([]string{"final answer", "final_answer", "finish"}, strings.ToLower(name)) {
			name = ToolAnswer
		}
		at := slices.IndexFunc(argumentKeys, func(k string) bool { return object[k] != nil })
		if at < 0 && k != "tool" && mainKeys[fold(name)] == "" {
			continue
		}
		out := maps.Clone(object)
		if at >= 0 {
			maps.Copy(out, arguments(object[argumentKeys[at]], mainKeys[fold(name)]))
		}
		out["tool"] = name
		return out
	}
	return nil
}

// arguments reads the arguments of a call: an object, its JSON as a text, or the main argument.
func arguments(v any, main string) (out map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		return v
	case string:
		if json.Unmarshal([]byte(v), &out) == nil && out != nil {
			return out
		}
		return map[string]any{main: v}
	}
	return nil
}
