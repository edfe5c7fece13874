// SPDX-License-Identifier: Apache-2.0

package kit

// Info describes a system for tables and command lines, as each package under examples/baselines does its own.
type Info struct {
	Name string
	// Also lists aliases: published systems with identical behaviour share one row in reports.
	Also []string
	// Source names the authors, Paper their paper and program; "" for a system of our own.
	Source, Paper string
	// Costs describes the calls of a model besides the one to answer.
	Costs string
	// Calls has their numbers, see [Calls].
	Calls Calls
	// NoDocuments marks a system that reads no documents. It needs an answering model.
	NoDocuments bool
	// Words marks a system that compares texts by words alone, whatever embedder the kit has.
	Words bool
	// NeedsModel marks a system in which a model decides what is read.
	NeedsModel bool
	// NeedsGraph marks a system that needs a graph from elsewhere, its option "graph".
	NeedsGraph bool
	// NoSchema marks the variant without a schema. Without an indexing model it would equal the
	// base system, and is not run.
	NoSchema bool
	// Baseline marks a system with which every other one is compared.
	Baseline bool
	// Options are of the type that New takes. A run begins with them.
	Options any
	New     func(k Kit, options any) (*System, error)
}

// Calls counts the calls of a model to index one chunk, to search for one question (without the answer), and
// once for a corpus, over pages of one chunk each that share no name. On such pages there is one report per
// chunk. Other counts that depend on the corpus are for the 19 pages of the sample's domain seafaring.
type Calls struct{ Chunk, Question, Once int }

// InfoOf completes a description by the options and the constructor of a package.
func InfoOf[O any](i Info, o O, build func(Kit, O) (*System, error)) Info {
	i.Options, i.New = o, func(k Kit, o any) (*System, error) { return build(k, o.(O)) }
	return i
}
