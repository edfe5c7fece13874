// SPDX-License-Identifier: Apache-2.0

// Package construct makes benchmarks like WildGraphBench (arXiv 2602.02053, section 3 and appendix C) from
// articles that cite the web.
//
//	a := construct.Parse(markdown, name, construct.Options{})
//	sources := construct.Sources(a.References())                        // cited sources
//	collected, err := pages.Collect(ctx, fetcher, sources, nil)        // the pages
//	b, err := construct.Make(ctx, domain, a, markdown, sources, collected, parts, construct.Numbers{})
//	err = b.Write(dir)                                                 // wildgraph.Load reads it
//
// The stages, each usable alone:
//
//  1. [Parse], or [FromHTML] before it, [Article.References] and [Sources]: the list of references, with titles,
//     URLs and archives; one record per URL and one file per title.
//  2. [Pages.Collect]: pages by a Getter (benchmark/fetch), or their archives, in a journal.
//  3. [Poor] and Parts.Keep: filters of pages.
//  4. [Article.Sections], [Marks] and [Article.Citations]: sections, citation marks, and their items.
//  5. [Stater]: sentences and their statements.
//  6. [Grounds]: statements with the URLs of all their marks. One mark without a page, and the statement is not gold.
//  7. [Asker] and [Questions]: questions of one source, of several, and summaries.
//  8. [Checker]: whether the pages support the answer, whether several are needed, and which statements of a
//     summary its pages support.
//  9. [Topic.Write]: the files of the release.
//
// [ByModel] does the stages 3, 5, 7 and 8 by a language model; [Rules] does 5, 7 and 8 without one, with
// weaker gold: verbatim sentences, and questions with a gap.
//
// Everything but the fetching is a function of the article, the pages and the model's replies. With a journal
// of pages and a cache of replies (llm/paid) an interrupted build continues, and two builds have the same
// bytes.
//
// A test repeats the stages without a model on the released data set, and compares. Pages, articles and
// replies are not trusted: a sentence that is not in the section is dropped, titles never become paths, and
// data in prompts are fenced.
package construct
