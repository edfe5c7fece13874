// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// panicked is what a system or a judge did instead of returning.
type panicked struct {
	value any
	stack string
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// guarded calls f and makes an error of a panic: hours of paid calls are not lost
// with one question. A panic in a goroutine that f started still ends the program.
func guarded[T any](f func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, stack()}
		}
	}()
	return f()
}

// stack is who called whom at a panic, the innermost first: the same for the same
// fault, without addresses and folders.
func stack() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	var lines []string
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "benchmark.guarded[...]") {
			break
		}
		if f.Function == "runtime.gopanic" {
			lines = nil // what is above belongs to the recovery
		} else if !strings.HasPrefix(f.Function, "runtime.") {
			lines = append(lines, fmt.Sprintf("%s (%s:%d)", f.Function, path.Base(f.File), f.Line))
		}
		if !more {
			break
		}
	}
	return strings.Join(lines, "\n")
}
