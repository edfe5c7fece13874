// SPDX-License-Identifier: Apache-2.0

// Package kit makes systems of parts: a [Kit] has the parts, a [Frame] says how they are put together, and a
// [System] indexes documents and answers questions.
//
//	parts, err := kit.Offline(kit.OfflineOptions{}) // or kit.ByModel
//	system, err := kit.New(kit.Frame{Name: "words", Kit: parts, Words: &bm25.Options{}})
//	stats, err := system.Index(ctx, load.Documents(ctx, os.DirFS("notes")))
//	answer, err := system.Answer(ctx, graphrag.Question{Text: "Who built the Fram?"})
//
// [Open] is [New] for a corpus in a store. [Kit.AnsweredBy] takes the parts that answer from another kit,
// and any part can be replaced. A frame with a Build is a recipe: it makes a retriever over a
// [Corpus], counts what it does with [Done] and [Count], and runs the calls of a model with [Each].
//
// Documents can be inserted and deleted while questions are answered, with the same result as building the index from
// scratch. Everything after extraction is a function of the documents and the replies of models, and replies are
// cached: a change pays only for new replies, also after a change that failed.
package kit
