// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"embed"
	"strings"
)

// Seeds has seed schemas for the data sets, in the form of extract.ReadSchema. They were written for
// WildGraph by the subjects of the questions.
//
//go:embed seeds
var Seeds embed.FS

// SeedNames lists the names of the seeds.
func SeedNames() (names []string) {
	files, _ := Seeds.ReadDir("seeds") // it is embedded
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	return names
}
