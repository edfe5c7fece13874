// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// reaskExcerpt limits how much of a bad reply is shown to the model again:
// feeding replies back whole makes prompts grow without bound.
const reaskExcerpt = 2000

// Decode asks m for a JSON object and reads it into a T. A T that knows more
// rules than its type says has a method Check() error. A reply that cannot
// be read, or fails its check, is asked for once more, with the fault named; after that the error
// is [ErrInvalidOutput]. A truncated reply is not asked for again. The usage
// in the reply, or in the error, is that of all calls made.
func Decode[T any](ctx context.Context, m Model, req Request) (T, Reply, error) {
	if len(req.Schema) == 0 {
		req.JSON = true
	}
	var spent Usage
	for again := false; ; again = true {
		reply, err := m.Generate(ctx, req)
		if err != nil {
			var zero T
			return zero, Reply{}, addUsage(err, spent)
		}
		spent = spent.Add(reply.Usage)
		reply.Usage = spent
		value, err := readInto[T](reply.Text)
		if err == nil {
			return value, reply, nil
		}
		if again || !errors.Is(err, ErrInvalidOutput) {
			return value, reply, addUsage(err, spent)
		}
		req.Messages = append(slices.Clip(req.Messages),
			Message{Role: Assistant, Text: clip(reply.Text, reaskExcerpt)},
			Message{Role: User, Text: fmt.Sprintf("That reply could not be read (%v). "+
				"Reply again with the JSON object alone, nothing before or after it.", errors.Unwrap(err))})
	}
}

// readInto reads the JSON object of a reply into a T. Its errors are [*Error].
func readInto[T any](text string) (T, error) {
	var value T
	object, err := ReadObject(text)
	if err != nil {
		return value, err
	}
	if err := json.Unmarshal(object, &value); err != nil {
		return value, outputError(ErrInvalidOutput, text, err)
	}
	if c, ok := any(&value).(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			return value, outputError(ErrInvalidOutput, text, err)
		}
	}
	return value, nil
}

// addUsage books earlier calls on the error of the last one.
func addUsage(err error, u Usage) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	sum := *e
	sum.Usage = e.Usage.Add(u)
	return &sum
}
