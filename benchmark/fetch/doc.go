// SPDX-License-Identifier: Apache-2.0

// Package fetch gets untrusted URLs from the public web: politely, within limits, and never from a private
// network.
//
//	f, err := fetch.New(fetch.Options{Agent: "my-benchmark/1.0 (me@example.org)"})
//	page, err := f.Page(ctx, "https://example.org/owls")
//	page.Text // Markdown
//
// # Addresses
//
// The address of the actual connection is checked, after the name was resolved and again for every redirect,
// so that neither a name that resolves twice (DNS rebinding) nor a spelling of an address (decimal, octal,
// mapped into IPv6) leads inside. Only public addresses, only the ports 80 and 443, only http and https, no
// names and passwords in the URL, no proxy, no cookies, at most five redirects.
//
// # Politeness
//
// Each host gets one request at a time with a pause between; many hosts are fetched concurrently. robots.txt
// is read first, within the time of one request, and cached, its Crawl-delay included; a host whose
// robots.txt cannot be fetched gets no request. Requests to a busy server are repeated a few times, after the
// pause that it names.
//
// # Limits
//
// A page has a maximal size, counted after decompression, and a maximal time, from the name to the last byte.
// A body that is not text is an error. Every error is an [*Error] with a [Kind].
//
// A Fetcher is safe for concurrent use.
package fetch
