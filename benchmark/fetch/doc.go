// SPDX-License-Identifier: Apache-2.0

// Package fetch gets pages of the open web that strangers named: politely, within
// limits, and never from a network of one's own.
//
//	f, err := fetch.New(fetch.Options{Agent: "my-benchmark/1.0 (me@example.org)"})
//	page, err := f.Page(ctx, "https://example.org/owls")
//	page.Text // Markdown
//
// # Addresses
//
// The address that a connection is really made to is checked, after the name was
// resolved and again for every redirect, so that neither a name that resolves twice
// (DNS rebinding) nor a spelling of an address (decimal, octal, mapped into IPv6) leads
// inside. Only public addresses, only the ports 80 and 443, only http and https, no
// names and passwords in the URL, no proxy, no cookies, at most five redirects.
//
// # Politeness
//
// Hosts are asked one request at a time with a pause between; many hosts at once.
// robots.txt is read first, within the time of one request, and kept, its Crawl-delay
// included; a host whose robots.txt cannot be had is not asked. A busy server is asked
// again a few times, with the pause that it names.
//
// # Limits
//
// A page has a size, counted after it is unpacked, and a time, from the name to the last
// byte. What is no text is an error. Every error is an [*Error] with a [Kind].
//
// A Fetcher is safe for concurrent use.
package fetch
