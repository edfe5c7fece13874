// SPDX-License-Identifier: Apache-2.0

package judge

// PrecisionRef is what the statements of an answer are held against for
// precision.
type PrecisionRef string

// The references for precision.
const (
	RefGold    PrecisionRef = "gold"    // the gold statements (equation 3)
	RefSection PrecisionRef = "section" // the text of the section they come from
	// RefEvidence is what the answer was written from: precision is then the share
	// of its statements that the evidence supports.
	RefEvidence PrecisionRef = "evidence"
	RefNone     PrecisionRef = "none" // nothing: not applicable, and 0 by the upstream profile
)

// DefaultMaxStatements is the largest number of statements taken from an
// answer, as in the released evaluator.
const DefaultMaxStatements = 20

// Options of the judges; the zero value holds precision against the gold
// statements and asks nothing else.
type Options struct {
	// Precision chooses the reference; "" is RefGold.
	Precision PrecisionRef
	// MaxStatements limits the statements taken from an answer; 0 is
	// DefaultMaxStatements.
	MaxStatements int
	// Grounded asks of every answer as well whether the evidence supports all of
	// it: one request more, which shows the evidence.
	Grounded bool
}
