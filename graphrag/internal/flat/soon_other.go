// SPDX-License-Identifier: Apache-2.0

//go:build !unix || aix || solaris

package flat

// Soon is advice for systems that take it.
func Soon[T any]([]T) {}

func scattered([]byte) {}
