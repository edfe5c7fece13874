// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/transport"
)

const key = "a-key-of-nobody"

// forms are the replies of each vendor: a whole reply, with 12 tokens read and 3 written, the stop reason of a
// cut reply, and the header with the key, by path.
var forms = map[string]struct{ path, header, reply, whole, cut string }{
	"anthropic": {"/messages", "X-Api-Key", `{"type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": %q}], "stop_reason": %q, "usage": {"input_tokens": 12, "output_tokens": 3}}`, "end_turn", "max_tokens"},
	"gemini":    {":streamGenerateContent", "X-Goog-Api-Key", `[{"candidates": [{"content": {"role": "model", "parts": [{"text": %q}]}, "finishReason": %q}], "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 15}}]`, "STOP", "MAX_TOKENS"},
	"mistral":   {"/mistral/v1/chat/completions", "Authorization", `{"id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": %q}, "finish_reason": %q}], "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}}`, "stop", "length"},
	"bedrock":   {"/invoke", "Authorization", `{"type": "message", "role": "assistant", "content": [{"type": "text", "text": %q}], "stop_reason": %q, "usage": {"input_tokens": 12, "output_tokens": 3}}`, "end_turn", "max_tokens"},
	"azure":     {"/openai/v1/chat/completions", "Authorization", `{"id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": %q}, "finish_reason": %q}], "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}}`, "stop", "length"},
}

// serve is a server for all vendors: a prompt with the word "cut" gets a cut reply, "busy" first a refusal, and
// a wrong key an error. It answers at the end of every address.
func serve(t *testing.T) (base http.RoundTripper, address string) {
	var busy atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, f := range forms {
			if !strings.HasSuffix(r.URL.Path, f.path) || r.Header.Get(f.header) == "" {
				continue
			}
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			switch said := r.Header.Get(f.header); {
			case name != "bedrock" && !strings.HasSuffix(said, key) || name == "bedrock" && !strings.Contains(said, "Credential="+key):
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprint(w, `{"error": {"message": "who are you?", "type": "authentication_error", "code": 401}}`)
			case !json.Valid(body) || !strings.Contains(string(body), "six times seven"):
				t.Errorf("%s was sent %s", name, body)
			case strings.Contains(string(body), "busy") && busy.Add(1) == 1:
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				fmt.Fprint(w, `{"error": {"message": "slow down", "type": "rate_limit_error", "code": 429}}`)
			case strings.Contains(string(body), "cut"):
				fmt.Fprintf(w, f.reply, "Forty", f.cut)
			default:
				fmt.Fprintf(w, f.reply, "Forty-two [1].", f.whole)
			}
			return
		}
		t.Errorf("a request for %s, %v", r.URL, r.Header)
	}))
	t.Cleanup(server.Close)
	at := check.Of(url.Parse(server.URL)).OK(t)
	return here{at}, server.URL
}

// here sends all requests to this machine.
type here struct{ at *url.URL }

func (h here) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = h.at.Scheme, h.at.Host, h.at.Host
	return http.DefaultTransport.RoundTrip(r)
}

func environment(t *testing.T, key, address string) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": key, "GEMINI_API_KEY": key, "MISTRAL_API_KEY": key, "MISTRAL_BASE_URL": address + "/mistral/v1", "ANTHROPIC_BASE_URL": "", "AZURE_OPENAI_API_KEY": key,
		"AZURE_OPENAI_ENDPOINT": address, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": "none", "AWS_REGION": "eu-north-1",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
}

func model(t *testing.T, vendor string, base http.RoundTripper) llm.Model {
	t.Helper()
	by := check.Of(transport.New(transport.Options{Base: base, BaseDelay: time.Millisecond})).OK(t)
	name := map[string]string{"bedrock": "anthropic.claude-3-haiku-20240307-v1:0"}[vendor]
	if name == "" {
		name = "m"
	}
	m := check.Of(vendors[vendor](name, by)).OK(t)
	check.True(t, strings.HasSuffix(m.Name(), name) && !strings.Contains(m.Name(), key), "the name is %s", m.Name())
	return m
}

// The model of each vendor returns its tokens, reports cut replies, retries when the server is busy, and
// refuses a wrong key; no error shows a key.
func TestVendors(t *testing.T) {
	for vendor := range forms {
		t.Run(vendor, func(t *testing.T) {
			base, address := serve(t)
			environment(t, key, address)
			m := model(t, vendor, base)
			zero := 0.
			ask := func(m llm.Model, text string) (llm.Reply, error) {
				return m.Generate(t.Context(), llm.Request{MaxTokens: 100, Temperature: &zero, Messages: []llm.Message{{Role: llm.System, Text: "Be brief."}, {Role: llm.User, Text: text}}})
			}
			got, err := ask(m, "What is six times seven?")
			check.True(t, err == nil && got.Text == "Forty-two [1]." &&
				got.Usage == (llm.Usage{Calls: 1, PromptTokens: 12, CompletionTokens: 3}), "%+v, %v", got, err)
			check.Is(t, check.Err(ask(m, "What is six times seven? Be cut.")), llm.ErrTruncated, "a reply that was cut")
			got, err = ask(m, "What is six times seven? Be busy.")
			check.True(t, err == nil && got.Text == "Forty-two [1].", "a busy server: %+v, %v", got, err)
			environment(t, "wrong", address)
			_, err = ask(model(t, vendor, base), "What is six times seven?")
			check.True(t, errors.Is(err, llm.ErrAuth) && !strings.Contains(err.Error(), "wrong"), "a wrong key: %v", err)
			environment(t, "", address)
			if vendor == "bedrock" {
				return // AWS takes credentials from many places, and notices missing ones at the first call
			}
			_, err = vendors[vendor]("m", nil)
			check.True(t, err != nil && strings.Contains(err.Error(), "API_KEY"), "no key: %v", err)
		})
	}
}

// ask answers over a folder with a vendor's model that has no OpenAI-compatible server.
func TestAsk(t *testing.T) {
	_, address := serve(t)
	dir := t.TempDir()
	check.OK(t, os.WriteFile(filepath.Join(dir, "sums.md"), []byte("What is six times seven? It is forty-two.\n"), 0o600))
	program := filepath.Join(dir, "vendors")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput()
	check.OK(t, err, "%v: %s", err, out)
	ask := exec.CommandContext(t.Context(), program, "ask", "-docs", filepath.Join(dir, "sums.md"), "-model", "mistral:m", "-system", "bm25", "What is six times seven?")
	ask.Env = []string{"MISTRAL_API_KEY=" + key, "MISTRAL_BASE_URL=" + address + "/mistral/v1", "HOME=" + dir, "XDG_CACHE_HOME=" + dir}
	out, err = ask.CombinedOutput()
	check.True(t, err == nil && strings.Contains(string(out), "Forty-two") && strings.Contains(string(out), "sums.md:1"), "%v: %s", err, out)
}
