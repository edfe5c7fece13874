// SPDX-License-Identifier: Apache-2.0

package find

// Text is the text of a page.
func Text(p *Pages, i int) string { return p.pages[i].text }
