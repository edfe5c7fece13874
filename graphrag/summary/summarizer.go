// SPDX-License-Identifier: Apache-2.0

package summary

import "context"

// Summarizer makes one text of several.
//
// Texts come in the order they are to be read in. Without any text worth a word
// the summary is empty. Summarize does not keep or change its argument, is safe
// for concurrent use, and stops with the context's error when ctx is cancelled.
type Summarizer interface {
	// Name identifies the summarizer in reports: kind, length, model.
	Name() string
	Summarize(ctx context.Context, texts []string) (Summary, error)
}

// Summary is what a [Summarizer] says.
type Summary struct {
	Text string
	// Quotes say where the words come from, in the order of Text. A model's
	// summary has none.
	Quotes []Quote
}

// Quote says that Text[Start:End] of a summary is what bytes SourceStart to
// SourceEnd of a text say, without links and line breaks.
type Quote struct {
	Start, End             int
	Source                 int // index of the text
	SourceStart, SourceEnd int
}
