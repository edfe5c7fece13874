// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Group is a part of the list of flags.
type Group struct {
	Title string
	Flags []string
}

// The widths of a list of flags: of a line, and of the column with the names.
const (
	lineWidth = 96
	nameWidth = 25
)

// servers has a line to copy for each kind of model server.
const servers = `
Model servers, by variables of the environment:
  export OPENAI_API_KEY=sk-...                       # OpenAI
  export OPENAI_BASE_URL=http://localhost:8000/v1    # vLLM: vllm serve NAME
  export OPENAI_BASE_URL=http://localhost:8080/v1    # llama.cpp: llama-server -m FILE
  export OLLAMA_HOST=http://localhost:11434          # Ollama: ollama pull NAME
Anthropic, Gemini, Mistral, Bedrock, Azure: examples/vendors.
`

// Help writes the purpose of a program and its flags by group; flags without a group come last. A
// program with the flag -model gets the list of model servers too.
func Help(w io.Writer, fs *flag.FlagSet, about string, groups ...Group) {
	fmt.Fprintf(w, "Usage: %s [flags]\n", fs.Name())
	if about != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(about))
	}
	other := Group{Title: "Other"}
	if len(groups) == 0 {
		other.Title = "Flags"
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !slices.ContainsFunc(groups, func(g Group) bool { return slices.Contains(g.Flags, f.Name) }) {
			other.Flags = append(other.Flags, f.Name)
		}
	})
	for _, g := range append(slices.Clone(groups), other) {
		if len(g.Flags) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", g.Title)
		for _, name := range g.Flags {
			if f := fs.Lookup(name); f != nil {
				helpFlag(w, f)
			}
		}
	}
	if fs.Lookup("model") != nil {
		fmt.Fprint(w, servers)
	}
}

// helpFlag writes the name of a flag and its usage, in two columns.
func helpFlag(w io.Writer, f *flag.Flag) {
	value, usage := flag.UnquoteUsage(f)
	left := strings.TrimRight("  -"+f.Name+" "+value, " ")
	if d := f.DefValue; !slices.Contains([]string{"", "0", "false"}, d) && !strings.Contains(usage, "default") {
		usage += fmt.Sprintf(" (default %s)", d)
	}
	if utf8.RuneCountInString(left) > nameWidth-2 {
		fmt.Fprintln(w, left)
		left = ""
	}
	line := fmt.Sprintf("%-*s", nameWidth, left)
	for i, word := range strings.Fields(usage) {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > lineWidth {
			fmt.Fprintln(w, line)
			line = strings.Repeat(" ", nameWidth)
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}
