// SPDX-License-Identifier: Apache-2.0

package langchain

import (
	"errors"
	"net"
	"os"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// Provider makes models and embedders of one server; they share one
// transport and so its limits.
type Provider struct {
	// Kind is "openai" or "ollama".
	Kind string
	// Config is what its models start from; Model is filled in.
	Config Config
}

// Model is a chat model of the provider.
func (p *Provider) Model(name string) (llm.Model, error) {
	c := p.Config
	c.Model = name
	if p.Kind == "ollama" {
		return Ollama(c)
	}
	return OpenAI(c)
}

// Embedder is an embedder of the provider.
func (p *Provider) Embedder(name string) (llm.NamedEmbedder, error) {
	c := p.Config
	c.Model = name
	if p.Kind == "ollama" {
		return OllamaEmbedder(c)
	}
	return OpenAIEmbedder(c)
}

// ErrNoProvider says that the environment names no server.
var ErrNoProvider = errors.New("langchain: no model server is named: set OPENAI_API_KEY, OPENAI_BASE_URL or OLLAMA_HOST")

// ProviderFromEnv reads the environment: with OPENAI_BASE_URL or
// OPENAI_API_KEY set it is that server, else with OLLAMA_HOST set that one,
// else the error is [ErrNoProvider]. No other variable is read.
func ProviderFromEnv(o transport.Options) (*Provider, error) {
	base, key, host := os.Getenv("OPENAI_BASE_URL"), os.Getenv("OPENAI_API_KEY"), os.Getenv("OLLAMA_HOST")
	p := &Provider{Kind: "openai", Config: Config{BaseURL: base, Key: transport.Secret(strings.TrimSpace(key))}}
	switch {
	case base != "" || key != "":
	case host != "":
		p = &Provider{Kind: "ollama", Config: Config{BaseURL: ollamaURL(host)}}
	default:
		return nil, ErrNoProvider
	}
	t, err := transport.New(o)
	if err != nil {
		return nil, err
	}
	p.Config.Shared = t
	return p, nil
}

// ollamaURL reads OLLAMA_HOST, which names what the server binds: a URL, a
// host, a port, or all interfaces.
func ollamaURL(host string) string {
	host = strings.TrimSpace(host)
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		scheme, rest = "http", host
	}
	rest, path, _ := strings.Cut(rest, "/")
	name, port, err := net.SplitHostPort(rest)
	if err != nil {
		name, port = strings.Trim(rest, "[]"), "11434"
		if ok {
			port = map[string]string{"http": "80", "https": "443"}[scheme]
		}
	}
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	if port == "" {
		return host // nonsense: let the URL check say so
	}
	return strings.TrimRight(scheme+"://"+net.JoinHostPort(name, port)+"/"+path, "/")
}
