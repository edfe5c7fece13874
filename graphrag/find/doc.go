// SPDX-License-Identifier: Apache-2.0

// Package find looks for the lines of pages that match a pattern, without an index.
//
// Patterns have the syntax of package regexp (RE2), so every search takes time in proportion to the text.
// Case is ignored, unless a pattern says otherwise: (?-i:Fram). A string that every match contains is
// looked for first, by its rarest byte in both cases, and lines without it are skipped: a hundred megabytes
// take a tenth of a second.
package find
