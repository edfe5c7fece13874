// SPDX-License-Identifier: Apache-2.0

// Package passage cuts pages into clean passages: short, overlapping, of whole
// sentences, and without what stands on every page.
//
// [Cut] takes pages together, since boilerplate is what several of them share: a
// sentence that stands on four pages, or on six if it is longer than 80 characters,
// stays on the first of these alone. Links, lines without a word and sentences that a
// page repeats go as well. The first line of a page, its title, always stays.
//
// What is left are units of about 50 tokens: runs of whole sentences, which begin anew
// at headings; a sentence of more than 90 tokens is cut evenly. A passage goes from one
// unit on until it has 150 tokens, so passages overlap, and what is asked for stands in
// the middle of one of them. [Page.Chunk] makes a chunk of any run of units: a passage
// that was found can be widened.
//
// Within a budget, many pages by short passages are worth more than few by long ones:
// docs/systems.md has figures. Everything here is safe for concurrent use, and the
// result depends on nothing but the pages and their order.
package passage
