// SPDX-License-Identifier: Apache-2.0

// Package article reads encyclopedia articles that cite the web: their sections, their
// citation marks, and the sources that these lead to. It reads the Markdown that reader
// services make of Wikipedia, Markdown with footnotes, and by FromHTML pages.
//
//	a := article.Parse(markdown, name, article.Options{})
//	a.Sections()                      // path and text
//	article.Marks(sentence)           // [[12]](…#cite_note-smith-14)
//	a.Citations().URLs(mark)          // the addresses of item 12 of the reference list
//	a.References()                    // all sources: title, URL, archive
//
// The rules are those of WildGraphBench's construction (arXiv 2602.02053, appendix C);
// Options.Released repeats its accidents as well. Articles are not trusted: nothing in
// them is an error, and the time is about linear in their size.
package article
