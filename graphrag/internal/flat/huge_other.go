// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package flat

// Huge is advice for systems that take it.
func Huge[T any](values []T) []T { return values }
