// SPDX-License-Identifier: Apache-2.0

// Package judgetest puts a judge into go test.
package judgetest
