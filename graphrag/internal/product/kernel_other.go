// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package product

func wide() []kernel { return nil }
