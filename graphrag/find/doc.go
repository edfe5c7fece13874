// SPDX-License-Identifier: Apache-2.0

// Package find looks for the lines of pages that match a pattern, without an index.
//
// Patterns are those of package regexp (RE2), so every search takes time in proportion to
// the text. Case is ignored, unless a pattern says otherwise: (?-i:Fram). What a pattern
// cannot match without is looked for first, by its rarest byte in both cases, and lines
// that do not have it are never read: a hundred megabytes take a tenth of a second.
package find
