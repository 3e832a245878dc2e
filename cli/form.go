package cli

import (
	"io"

	"lockstep/core"
)

// printJSON prints a document for scripts. Each has the number of its form as its first field (docs/forms.md).
func printJSON(w io.Writer, document any) error { return printEncoded(w, document, "  ") }

// printJSONLine prints a document on a line of its own.
func printJSONLine(w io.Writer, document any) error { return printEncoded(w, document, "") }

func printEncoded(w io.Writer, document any, indent string) error {
	raw, err := core.EncodeJSON(document, indent)
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}
