// SPDX-License-Identifier: Apache-2.0

// Package transport sends requests to models: a [Transport] is an
// http.RoundTripper with the one retry loop, the rates, the adaptive concurrency and
// the breaker that waits for a server to come back. No layer above retries. It knows
// no vendor; a [Call] lets a client shape the request and read the reply where it
// must.
package transport
