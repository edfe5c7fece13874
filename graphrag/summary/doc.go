// SPDX-License-Identifier: Apache-2.0

// Package summary condenses communities and chunks.
package summary
