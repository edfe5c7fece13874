// SPDX-License-Identifier: Apache-2.0

package reader

import "testing"

func TestTopic(t *testing.T) {
	for _, tt := range []struct{ before, sentence, want string }{
		{"The Aven Bridge crosses the river near Leith.", "It was designed by Edmund Carrick.", "The Aven Bridge"},
		{"The keepers of the tower were three in 1977.", "Since then they are two.", "The keepers of the tower"},
		{"Greta Holm rents the upper floor.", "She repairs violins.", "Greta Holm"},
		{"The lake was mapped by Sofia Lindqvist in 1888.", "She also mapped another.", "Sofia Lindqvist"},
		{"The lake was mapped by Sofia Lindqvist in 1888.", "This is its oldest map.", "The lake"},
		{"Ada Lovelace (1815–1852) was a mathematician.", "In 1843 she published notes.", "Ada Lovelace"},
		{"Ada Lovelace met Charles Babbage in 1833.", "She was seventeen.", ""}, // or he
		{"Edmund Carrick drew a bridge.", "It was never built.", ""},            // the object
		{"Its water is brown.", "It freezes in November.", ""},                  // the water, or whose it is
		{"The tower is high.", "It is clear that it leans.", ""},                // says nothing of the tower
		{"The tower is high.", "It was in 1995 that the bell fell.", ""},        // nor does this
		{"The tower is high.", "By making it higher they broke it.", ""},        // an object
		{"The tower is high.", "This tower has no bell.", ""},                   // names its subject
		{"The tower is high.", "The bell rings.", ""},                           // and so does this
		{"The tower, seen from the east", "It is high.", ""},                    // a caption
		{"Old walls lean.", "They are from Leith.", ""},                         // the verb is not told
	} {
		before, _ := topic{}.next(tt.before, 0)
		if _, got := before.next(tt.sentence, 9); got != tt.want {
			t.Errorf("after %q: in %q the pronoun is %q, want %q", tt.before, tt.sentence, got, tt.want)
		}
	}
	last, _ := topic{}.next("The tower is high.", 0)
	for range maxLinks {
		last, _ = last.next("It leans.", 0)
	}
	if _, got := last.next("It leans.", 0); got != "" || last.shown != "The tower is high. It leans. It leans." {
		t.Errorf("after %q: %q", last.shown, got)
	}
}
