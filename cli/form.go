package cli

import (
	"encoding/json"
	"io"
)

// printJSON prints a document for scripts. Each has the number of its form as its first field (docs/forms.md).
func printJSON(w io.Writer, document any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(document)
}
