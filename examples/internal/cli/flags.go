// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"flag"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Flag is a flag of a program. Its declaration, its place in the help, its check, and its part in the settings
// that determine answers all follow from this value.
type Flag struct {
	// Group is the title under which the help lists the flag.
	Name, Group, Usage string
	// Value is a pointer to a bool, int, uint64, float64 or string with the default Default, nil for the zero
	// value; or a func(string) error, which is called each time the flag is given.
	Value, Default any
	// Key is the key of the value among the settings that determine answers: recorded answers under other
	// settings are not used. A flag without a key has [NoKey] or [OtherKey].
	Key string
	// Decides, if set, returns the value under Key at the time of the call, nil to leave the key out. By
	// default it is the value of the flag.
	Decides func() any
	// Named is true if a report names the flag when its value is not the default.
	Named bool
	// Check, if not nil, checks the value.
	Check func(name string) error
}

// NoKey is the Key of a flag that affects no answer, OtherKey of a flag whose value is already part of a
// setting that determines answers: the kit, the question or the options of a system.
const (
	NoKey    = "-"
	OtherKey = "="
)

// Declare declares the flags of a table and gives fs a help with the titles of their groups, in this order.
func Declare(fs *flag.FlagSet, w io.Writer, about string, table []Flag, titles ...string) {
	var groups []Group
	for _, title := range titles {
		g := Group{Title: title}
		for _, f := range table {
			if f.Group == title {
				g.Flags = append(g.Flags, f.Name)
			}
		}
		groups = append(groups, g)
	}
	for _, f := range table {
		if f.Key == "" {
			panic("cli: the flag -" + f.Name + " does not say whether it decides answers: set Key")
		}
		f.declare(fs)
	}
	fs.Usage = func() { Help(w, fs, about, groups...) }
}

func (f Flag) declare(fs *flag.FlagSet) {
	if set, ok := f.Value.(func(string) error); ok {
		fs.Func(f.Name, f.Usage, set)
		return
	}
	if to := reflect.ValueOf(f.Value).Elem(); f.Default != nil {
		to.Set(reflect.ValueOf(f.Default).Convert(to.Type()))
	} else {
		to.SetZero()
	}
	switch to := f.Value.(type) {
	case *bool:
		fs.BoolVar(to, f.Name, *to, f.Usage)
	case *int:
		fs.IntVar(to, f.Name, *to, f.Usage)
	case *uint64:
		fs.Uint64Var(to, f.Name, *to, f.Usage)
	case *float64:
		fs.Float64Var(to, f.Name, *to, f.Usage)
	case *string:
		fs.StringVar(to, f.Name, *to, f.Usage)
	}
}

// Decisive returns the settings of a table that determine answers.
func Decisive(table []Flag) map[string]any {
	out := make(map[string]any)
	for _, f := range table {
		if f.Key == NoKey || f.Key == OtherKey {
			continue
		}
		if f.Decides == nil {
			out[f.Key] = reflect.ValueOf(f.Value).Elem().Interface()
		} else if v := f.Decides(); v != nil {
			out[f.Key] = v
		}
	}
	return out
}

// In returns the flags of a table with these names, in this order, under another title.
func In(title string, table []Flag, names ...string) (out []Flag) {
	for _, name := range names {
		f := table[slices.IndexFunc(table, func(f Flag) bool { return f.Name == name })]
		f.Group = title
		out = append(out, f)
	}
	return out
}

// OneOf checks that a text is one of the allowed values.
func OneOf(v *string, allowed ...string) func(name string) error {
	return func(name string) error {
		if slices.Contains(allowed, *v) {
			return nil
		}
		return fmt.Errorf("-%s %q: want one of %s", name, *v, strings.Join(allowed, ", "))
	}
}

// AtLeast checks that a number is at least least.
func AtLeast(v *int, least int) func(name string) error {
	return func(name string) error {
		if *v >= least {
			return nil
		}
		return fmt.Errorf("-%s %d: want %d or more", name, *v, least)
	}
}

// Names appends the names of a list, separated by commas, without repetitions.
func Names(to *[]string) func(string) error {
	return func(v string) error {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(*to, part) {
				*to = append(*to, part)
			}
		}
		if len(*to) == 0 {
			return fmt.Errorf("the list is empty")
		}
		return nil
	}
}
