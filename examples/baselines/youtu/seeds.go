// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"embed"
	"strings"
)

// Seeds are schemas to begin with, for the data sets, in the form of extract.ReadSchema.
// They are written for WildGraph after what the data sets ask about.
//
//go:embed seeds
var Seeds embed.FS

// SeedNames are the names of the seeds, by which they are chosen.
func SeedNames() (names []string) {
	files, _ := Seeds.ReadDir("seeds") // it is embedded
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	return names
}
