package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// ending is the last line of a file that a program wrote: without it, a file that was cut off between two lines would pass
// for a smaller cloud.
const ending = "..."

// recognise says of a file that is no scenario what it is instead, as far as it can be told.
func recognise(raw []byte) error {
	const want = "; want a scenario, or what `lockstep snapshot -o FILE` writes"
	switch text := bytes.TrimSpace(raw); {
	case len(text) == 0:
		return errors.New("the file is empty" + want)
	case bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw):
		return errors.New("the file is no text" + want)
	}
	var shape struct {
		APIVersion any `json:"apiVersion"`
		Kind       any `json:"kind"`
		Clouds     any `json:"clouds"`
		Format     any `json:"format"`
		Found      any `json:"found"`
		Nodes      any `json:"nodes"`
		Machine    any `json:"machine"`
	}
	if err := yaml.Unmarshal(raw, &shape); err != nil {
		return nil // the parser says it better
	}
	switch {
	case shape.APIVersion != nil && shape.Kind == "Config":
		return errors.New("the file is a kubeconfig" + want)
	case shape.APIVersion != nil || shape.Kind != nil:
		return fmt.Errorf("the file is a Kubernetes manifest (%s)"+want, strings.TrimSpace(fmt.Sprint(orNothing(shape.Kind), " ", orNothing(shape.APIVersion))))
	case shape.Clouds != nil:
		return errors.New("the file is a clouds.yaml" + want)
	}
	if n, ok := shape.Format.(float64); ok && n > Format {
		return fmt.Errorf("the file is of format %g, and this program reads formats up to %d: use the program that wrote it, or a newer one", n, Format)
	} else if shape.Format != nil && (!ok || n < 1 || n != float64(int(n))) {
		return fmt.Errorf("format is %v: want %d", shape.Format, Format)
	}
	if shape.Found != nil && !bytes.HasSuffix(bytes.TrimSpace(raw), []byte("\n"+ending)) {
		return fmt.Errorf("the file was cut off: its last line is not %q", ending)
	}
	return nil
}

func orNothing(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
