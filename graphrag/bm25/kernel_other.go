// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package bm25

func available() []kernels { return []kernels{portable()} }
