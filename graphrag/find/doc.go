// SPDX-License-Identifier: Apache-2.0

// Package find finds the lines of pages that match a regular expression, without an index.
//
// Patterns have the syntax of package regexp (RE2), so every search takes time proportional to the text. Case
// is ignored, unless a pattern says otherwise: (?-i:Fram). If every match contains a certain string, that is
// searched first, by its rarest byte in both cases, and lines without it are skipped: a hundred megabytes take
// a tenth of a second.
package find
