// SPDX-License-Identifier: Apache-2.0

// Package check has what tests share: assertions, texts, and contexts that are cancelled.
//
// An assertion that fails reports the line of its caller. The format and the arguments that
// follow its values say what was tested.
package check

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// OK ends the test if there is an error.
func OK(tb testing.TB, err error, about ...any) {
	if err != nil {
		tb.Helper()
		tb.Fatal(label(about) + err.Error())
	}
}

// Equal reports a test that got another value than it wants. Values are equal as
// [reflect.DeepEqual] or [cmp.Equal] says, unexported fields included.
func Equal[T any](tb testing.TB, got, want T, about ...any) {
	if reflect.DeepEqual(got, want) {
		return
	}
	diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true }))
	if diff == "" {
		return
	}
	tb.Helper()
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Slice, reflect.Map, reflect.Struct, reflect.Array:
		tb.Errorf("%sgot %+v, want %+v\n(-want +got):\n%s", label(about), got, want, diff)
	default:
		tb.Errorf("%sgot %#v, want %#v", label(about), got, want)
	}
}

// Err returns the error of a call that returns a value too.
func Err[T any](_ T, err error) error { return err }

// Is reports an error that does not match the target, as [errors.Is] says.
func Is(tb testing.TB, err, target error, about ...any) {
	if !errors.Is(err, target) {
		tb.Helper()
		tb.Errorf("%sgot the error %v, want %v", label(about), err, target)
	}
}

// Fails reports an error that does not contain the text, or none.
func Fails(tb testing.TB, err error, text string, about ...any) {
	if err == nil || !strings.Contains(err.Error(), text) {
		tb.Helper()
		tb.Errorf("%sgot the error %v, want one that contains %q", label(about), err, text)
	}
}

// Contains reports a text that does not contain a part of it.
func Contains[T ~string | ~[]byte](tb testing.TB, text T, part string, about ...any) {
	if !strings.Contains(string(text), part) {
		tb.Helper()
		tb.Errorf("%sno %q in\n%s", label(about), part, text)
	}
}

// True reports a condition that does not hold.
func True(tb testing.TB, holds bool, format string, args ...any) {
	if !holds {
		tb.Helper()
		tb.Errorf(format, args...)
	}
}

// Must ends the test if a condition does not hold.
func Must(tb testing.TB, holds bool, format string, args ...any) {
	if !holds {
		tb.Helper()
		tb.Fatalf(format, args...)
	}
}

// Long skips a test that takes seconds or starts the go command, unless WILDGRAPH_LONG or one of
// the variables is set.
func Long(tb testing.TB, variables ...string) {
	for _, v := range append(variables, "WILDGRAPH_LONG") {
		if os.Getenv(v) != "" {
			return
		}
	}
	tb.Helper()
	tb.Skip("takes long: set WILDGRAPH_LONG, as .ci/run does")
}

// label formats what was tested, followed by a colon.
func label(about []any) string {
	if len(about) == 0 {
		return ""
	}
	return fmt.Sprintf(about[0].(string), about[1:]...) + ": "
}

// Result is the value of a call and its error.
type Result[T any] struct {
	value T
	err   error
}

// Of returns the result of a call, as in check.Of(os.ReadFile(name)).OK(t).
func Of[T any](value T, err error) Result[T] { return Result[T]{value, err} }

// OK returns the value; it ends the test if there is an error.
func (r Result[T]) OK(tb testing.TB, about ...any) T {
	if r.err != nil {
		tb.Helper()
		tb.Fatal(label(about) + r.err.Error())
	}
	return r.value
}
