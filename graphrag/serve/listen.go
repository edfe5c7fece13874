// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of a server: of the header of a request and of how long things may take. A connection that
// says nothing ends with headerTimeout.
const (
	maxHeader     = 64 << 10
	headerTimeout = 10 * time.Second
	bodyTimeout   = time.Minute
	writeTimeout  = 6 * time.Minute
	goodbye       = 3 * time.Second
)

// Address is the address of this machine that a text names: ":8080", "8080", "localhost:8080",
// "[::1]:0". Others are an error, since there is no login without tokens.
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
		return "", fmt.Errorf("%q is no port: want a number from 0 to 65535, 0 for a free one", port)
	}
	switch host {
	case "", "localhost":
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return "", fmt.Errorf("%s is not this machine alone, and without tokens there is no login: give tokens, or put a server that has a login before 127.0.0.1", host)
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}

// Listen listens at an address: of this machine alone ([Address]), or with tokens at any.
func Listen(address string, tokens map[string]Token) (net.Listener, error) {
	if len(tokens) == 0 {
		var err error
		if address, err = Address(address); err != nil {
			return nil, fmt.Errorf("serve: %w", err)
		}
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("serve: %s is in use by another program: take another port, or :0 for a free one", address)
	} else if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	return l, nil
}

// Serve serves until ctx ends, and then lets answers that are under way end for a moment.
// Connections that say nothing are closed. It closes the listener.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: time.Minute, MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return server.Close()
	}
	return nil
}
