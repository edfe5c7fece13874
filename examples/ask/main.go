// SPDX-License-Identifier: Apache-2.0

// Command ask answers questions over a folder of files (notes, manuals, tables, code,
// PDF), with the lines that support the answer.
//
//	go run ./examples/ask -docs FOLDER "question"
//	go run ./examples/ask -docs FOLDER                 # a dialogue
//	go run ./examples/ask -docs FOLDER -serve :8080    # a page in the browser
//	go run ./examples/ask -docs FOLDER -mcp            # a server for other programs
//
// The index is kept on disk and updated by changes. Answers are quotes, unless -model names a language model
// (its server is in OPENAI_BASE_URL and OPENAI_API_KEY, or OLLAMA_HOST). The exit status of one question is 0
// for an answer, 2 if the files have none. docs/ask.md is the guide, -help lists the flags.
package main

import "github.com/wildgraph/wildgraph/examples/ask/program"

func main() { program.Main(program.Stores{}) }
