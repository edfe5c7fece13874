// SPDX-License-Identifier: Apache-2.0

// Package storetest is the conformance suite of package store: [Test] checks every promise
// that an implementation has to keep, given a [Factory] of empty stores. [Bench] measures one,
// and [Full] tests a server whose disk is full.
package storetest
