//go:build !unix

package cli

import "io"

// withoutSIGPIPE is out: there is no such signal.
func withoutSIGPIPE(out io.Writer) (_ io.Writer, release func()) { return out, func() {} }
