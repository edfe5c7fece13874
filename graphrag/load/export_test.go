// SPDX-License-Identifier: Apache-2.0

package load

// Escape and Together are functions for tests.
var Escape, Together = escapeLine, together
