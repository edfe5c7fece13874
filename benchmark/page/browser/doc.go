// SPDX-License-Identifier: Apache-2.0

// Package browser holds the tests of benchmark/page, and of the pages of graphrag/view and of
// ask, that run in a real browser, Chromium without a window. It is a module of its own, so that nobody who imports
// the library gets a browser's client.
//
//	go test ./...                # in this folder; skipped where there is no Chromium
//	go test ./... -v -run Speed  # prints how fast a page of 6,000 answers is
//	go test ./... -run Pictures -pictures ../../../docs/img
//	go test ./... -run TestAsk -ask-pictures FOLDER
package browser
