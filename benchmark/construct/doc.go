// SPDX-License-Identifier: Apache-2.0

// Package construct makes benchmarks like WildGraphBench (arXiv 2602.02053, section 3
// and appendix C) of articles that cite the web.
//
//	a := construct.Parse(markdown, name, construct.Options{})
//	sources := construct.Sources(a.References())                        // what it cites
//	collected, err := pages.Collect(ctx, fetcher, sources, nil)        // the pages
//	b, err := construct.Make(ctx, domain, a, markdown, sources, collected, parts, construct.Numbers{})
//	err = b.Write(dir)                                                 // wildgraph.Load reads it
//
// The stages, each usable alone:
//
//  1. [Parse], or [FromHTML] before it, [Article.References] and [Sources]: the list of
//     references, with titles, URLs and archives; one record a URL and one file a title.
//  2. [Pages.Collect]: pages by a Getter (benchmark/fetch), or their archives, kept in a
//     journal.
//  3. [Poor] and Parts.Keep: what is no page to cite.
//  4. [Article.Sections], [Marks] and [Article.Citations]: sections, citation marks, and
//     the items they lead to.
//  5. [Stater]: sentences and what they state.
//  6. [Grounds]: statements with the URLs of all their marks. One mark without a page,
//     and the statement is no gold.
//  7. [Asker] and [Questions]: questions of one source, of several, and summaries.
//  8. [Checker]: do the pages state the answer; does it take several; which statements of
//     a summary stand on their pages.
//  9. [Topic.Write]: the files of the release.
//
// [ByModel] does the stages 3, 5, 7 and 8 by a language model; [Rules] does 5, 7 and 8
// without one, with weaker gold: sentences as they stand, and questions with a gap.
//
// Everything but the fetching is a function of the article, what was collected and the
// model's replies. With a journal of pages and a cache of replies (llm/paid) a build that
// was stopped goes on where it was, and two builds have the same bytes.
//
// A test makes the stages without a model again for the released data set, and compares.
// Pages, articles and replies are not trusted: a sentence that the section
// does not hold is dropped, titles never become paths, and data in prompts are fenced.
package construct
