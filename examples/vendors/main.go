// SPDX-License-Identifier: Apache-2.0

// Command vendors is ask and wildgraphbench with the models of further vendors, which need their own
// clients (of langchaingo):
//
//	go run . ask -docs FOLDER -model anthropic:NAME "question"
//	go run . wildgraphbench -model gemini:NAME
//
//	anthropic:NAME  ANTHROPIC_API_KEY, perhaps ANTHROPIC_BASE_URL
//	gemini:NAME     GEMINI_API_KEY
//	mistral:NAME    MISTRAL_API_KEY, perhaps MISTRAL_BASE_URL
//	bedrock:ID      what AWS's tools read: AWS_REGION, AWS_PROFILE, AWS_ACCESS_KEY_ID, …
//	azure:NAME      AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY; the name of a deployment
//
// It is a separate module, so that other programs link no vendor's client. It has all flags, the cache,
// limits and ledger of the two programs.
package main

import (
	"fmt"
	"os"

	"github.com/wildgraph/wildgraph/examples/ask/program"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/wildgraphbench/bench"
)

func main() {
	cli.Vendors = vendors
	which := ""
	if len(os.Args) > 1 {
		which = os.Args[1]
		os.Args = append(os.Args[:1], os.Args[2:]...)
	}
	switch which {
	case "ask":
		program.Main(program.Stores{})
	case "wildgraphbench":
		bench.Main()
	}
	fmt.Fprintln(os.Stderr, "vendors: say which program: vendors ask … or vendors wildgraphbench …, with -model anthropic:NAME, gemini:NAME, mistral:NAME, bedrock:ID or azure:NAME")
	os.Exit(cli.WrongUsage)
}
