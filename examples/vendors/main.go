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
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/bedrock"
	"github.com/tmc/langchaingo/llms/googleai"

	"github.com/wildgraph/wildgraph/examples/ask/program"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/wildgraphbench/bench"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/langchain"
	"github.com/wildgraph/wildgraph/llm/transport"
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

// vendors maps a vendor to the function that opens a model by its name. Requests use the given transport, which
// retries. Mistral's and Azure's servers accept OpenAI's format: they use package transport, since
// langchaingo's clients lose token counts, kinds of errors, and the bodies of retries.
var vendors = map[string]func(model string, by *transport.Transport) (llm.Model, error){
	"anthropic": func(model string, by *transport.Transport) (llm.Model, error) {
		key, err := env("ANTHROPIC_API_KEY")
		if err != nil {
			return nil, err
		}
		m, err := anthropic.New(anthropic.WithToken(key), anthropic.WithModel(model), anthropic.WithHTTPClient(&http.Client{Transport: by}),
			anthropic.WithBaseURL(cmp.Or(os.Getenv("ANTHROPIC_BASE_URL"), "https://api.anthropic.com/v1")))
		return from("anthropic:"+model, m, err)
	},
	"gemini": func(model string, by *transport.Transport) (llm.Model, error) {
		key, err := env("GEMINI_API_KEY")
		if err != nil {
			return nil, err
		}
		// With WithHTTPClient, langchaingo does not send the key.
		m, err := googleai.New(context.Background(), googleai.WithRest(), googleai.WithAPIKey(key), googleai.WithDefaultModel(model),
			googleai.WithHTTPClient(&http.Client{Transport: keyed{by, key}}))
		return from("gemini:"+model, m, err)
	},
	"mistral": func(model string, by *transport.Transport) (llm.Model, error) {
		key, err := env("MISTRAL_API_KEY")
		if err != nil {
			return nil, err
		}
		return transport.OpenAI(transport.Config{BaseURL: cmp.Or(os.Getenv("MISTRAL_BASE_URL"), "https://api.mistral.ai/v1"), Key: transport.Secret(key), Model: model, Shared: by})
	},
	"bedrock": func(model string, by *transport.Transport) (llm.Model, error) {
		c, err := config.LoadDefaultConfig(context.Background(), config.WithRetryMaxAttempts(1))
		if err != nil {
			return nil, fmt.Errorf("bedrock: %w", err)
		}
		client := bedrockruntime.NewFromConfig(c, func(o *bedrockruntime.Options) { o.HTTPClient = &http.Client{Transport: by} })
		m, err := bedrock.New(bedrock.WithModel(model), bedrock.WithClient(client))
		return from("bedrock:"+model, cut{m}, err)
	},
	"azure": func(model string, by *transport.Transport) (llm.Model, error) {
		key, err1 := env("AZURE_OPENAI_API_KEY")
		at, err2 := env("AZURE_OPENAI_ENDPOINT")
		if err := cmp.Or(err1, err2); err != nil {
			return nil, err
		}
		return transport.OpenAI(transport.Config{BaseURL: strings.TrimSuffix(at, "/") + "/openai/v1", Key: transport.Secret(key), Model: model, Shared: by})
	},
}

// cut sets the kind of the error for a reply that was cut, which langchaingo's client of Bedrock does not.
type cut struct{ llms.Model }

func (c cut) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	got, err := c.Model.GenerateContent(ctx, messages, options...)
	if err != nil && strings.HasPrefix(err.Error(), "completed due to max_tokens") {
		err = &llm.Error{Kind: llm.ErrTruncated, Billed: llm.BilledYes}
	}
	return got, err
}

// env returns the value of an environment variable, or an error if it is not set.
func env(name string) (string, error) {
	if v := os.Getenv(name); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("the environment variable %s is not set", name)
}

func from(name string, m llms.Model, err error) (llm.Model, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return langchain.From(m, langchain.FromOptions{Name: name})
}

// keyed adds Google's key to each request.
type keyed struct {
	by  http.RoundTripper
	key string
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Goog-Api-Key", k.key)
	return k.by.RoundTrip(r)
}
