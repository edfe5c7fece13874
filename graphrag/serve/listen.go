// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Limits of a server: bytes of the header of a request, and times. A connection that sends no request is closed
// after headerTimeout.
const (
	maxHeader     = 64 << 10
	headerTimeout = 10 * time.Second
	bodyTimeout   = time.Minute
	writeTimeout  = 6 * time.Minute
	goodbye       = 3 * time.Second
)

// Address returns the address of this machine that a text names: ":8080", "8080", "localhost:8080", "[::1]:0".
// An address of another machine is an error, since there is no login without tokens.
func Address(s string) (string, error) {
	if !strings.Contains(s, ":") {
		s = ":" + s
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", fmt.Errorf("%q is not a port: want a number from 0 to 65535, 0 for a free one", port)
	}
	switch host {
	case "", "localhost":
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return "", fmt.Errorf("%s is not an address of this machine alone, and without tokens there is no login: give tokens, or put a server that has a login before 127.0.0.1", host)
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}

// FromHere reports whether a request names this machine, by a loopback address, localhost or one of hosts, and
// was not sent by a page of another site. So a page that lets its own name resolve to this machine, or that
// sends forms here, gets no reply. Links to pages of this machine work from everywhere.
func FromHere(r *http.Request, hosts ...string) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if local := err == nil && ip.IsLoopback() || host == "localhost" || slices.Contains(hosts, host); !local {
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host {
		return false
	}
	if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
		return true
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin" || site == "none"
	}
	referer, err := url.Parse(r.Header.Get("Referer")) // for browsers that do not send Sec-Fetch-Site
	return err == nil && (referer.Host == "" || referer.Host == r.Host)
}

// Listen listens at an address: without tokens only at one of this machine ([Address]), with tokens at any.
func Listen(address string, tokens map[string]Token) (net.Listener, error) {
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		var err error
		if address, err = Address(address); err != nil {
			return nil, fmt.Errorf("serve: address: %w", err)
		}
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("serve: %s is in use by another program: take another port, or :0 for a free one", address)
	} else if err != nil {
		return nil, fmt.Errorf("serve: listen: %w", err)
	}
	return l, nil
}

// Serve serves until ctx ends, and then waits a moment for answers in progress. Idle connections are closed. It
// closes the listener.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	httpServer := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: time.Minute, MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	ended := make(chan error, 1)
	go func() { ended <- httpServer.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: stopped: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	if err := httpServer.Shutdown(last); err != nil {
		return httpServer.Close()
	}
	return nil
}

// Token has the rights of a user with a token.
type Token struct {
	// Scope limits the documents that the user can read and write; nil is all documents.
	Scope *graphrag.Condition `json:"scope,omitempty"`
	// Write allows the user to put and delete documents.
	Write bool `json:"write,omitempty"`
}

const minToken, maxToken = 16, 1 << 12

// ReadTokens reads the tokens of a JSON object, such as
//
//	{"TOKEN": {"scope": "team = \"ops\"", "write": true}}
//
// Tokens have 16 to 4096 visible ASCII characters. A key that is unknown, repeated, in other
// case or null is an error: a slip must not open documents that a scope was to hide.
func ReadTokens(r io.Reader) (map[string]Token, error) {
	tokens := map[string]Token{}
	in := json.NewDecoder(io.LimitReader(r, 16<<20))
	err := object(in, func(name string) error {
		var may Token
		if _, twice := tokens[name]; twice {
			return fmt.Errorf("token number %d occurs twice", len(tokens)+1)
		}
		seen := map[string]bool{}
		err := object(in, func(key string) error {
			if seen[key] {
				return fmt.Errorf("the key %q occurs twice", key)
			}
			seen[key] = true
			var value json.RawMessage
			if err := in.Decode(&value); err != nil {
				return err
			}
			switch {
			case string(value) == "null":
				return fmt.Errorf("%q is null: leave it out", key)
			case key == "scope":
				may.Scope = new(graphrag.Condition)
				return json.Unmarshal(value, may.Scope)
			case key == "write":
				return json.Unmarshal(value, &may.Write)
			}
			return fmt.Errorf("the key %.40q is unknown", key)
		})
		tokens[name] = may
		return err
	})
	if err == nil {
		if _, more := in.Token(); more != io.EOF {
			err = errors.New("there is more text after the object")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("serve: tokens: %w: want {\"TOKEN\": {\"scope\": \"CONDITION\", \"write\": false}}", err)
	}
	if len(tokens) == 0 {
		return nil, errors.New("serve: there is no token: give one, or leave the file out to serve this machine alone")
	}
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	return tokens, nil
}

// object reads a JSON object; read is called for each key, and reads its value.
func object(in *json.Decoder, read func(key string) error) error {
	begun, err := in.Token()
	if err == nil && begun != json.Delim('{') {
		return errors.New("the value is not a JSON object")
	}
	for err == nil && in.More() {
		var key json.Token
		if key, err = in.Token(); err == nil {
			name, _ := key.(string)
			err = read(name)
		}
	}
	if err == nil {
		_, err = in.Token()
	}
	return err
}

// checkTokens returns an error if a token is so short that it could be guessed, or is missing. The error does
// not contain the token.
func checkTokens(tokens map[string]Token) error {
	for t := range tokens {
		if len(t) < minToken || len(t) > maxToken || strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return fmt.Errorf("serve: a token has %d characters, or characters other than visible ASCII: want %d to %d visible ASCII characters", len(t), minToken, maxToken)
		}
	}
	return nil
}
