// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"errors"
	"iter"
)

// Streamer is a [Model] that can hand out a reply while it is written.
type Streamer interface {
	Model
	// Stream is Generate, but calls piece with each part of the text as it
	// comes. The parts together are the text of the reply. An error of piece ends
	// the call and is returned.
	Stream(ctx context.Context, req Request, piece func(text string) error) (Reply, error)
}

// Stream asks m and calls piece with the parts of the reply, or with the whole
// of it if m is no [Streamer]; without piece it is m.Generate. Models that stand on
// others pass pieces on with it; for whoever reads them there is [Pieces].
func Stream(ctx context.Context, m Model, req Request, piece func(text string) error) (Reply, error) {
	if s, ok := m.(Streamer); ok && piece != nil {
		return s.Stream(ctx, req, piece)
	}
	reply, err := m.Generate(ctx, req)
	if err == nil && piece != nil {
		err = piece(reply.Text)
	}
	return reply, err
}

// errStopped is a reader of pieces that wants no more.
var errStopped = errors.New("llm: the reader stopped")

// Pieces yields the parts of a reply as they come, in the end with an error if
// there was one: what came before it is then not a reply. Whoever stops reading
// ends the call.
func Pieces(ctx context.Context, m Model, req Request) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		_, err := Stream(ctx, m, req, func(text string) error {
			if text != "" && !yield(text, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield("", err)
		}
	}
}
