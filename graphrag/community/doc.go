// SPDX-License-Identifier: Apache-2.0

// Package community finds communities in graphs.
package community
