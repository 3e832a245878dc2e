package picture

import (
	"errors"
	"fmt"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"

	"lockstep/e2e/terminal"
)

// fonts are Go Mono's four faces at one size. The font is part of the module golang.org/x/image, so a picture looks the same on
// every machine.
type fonts struct {
	regular, bold, italic, boldItalic font.Face

	table      *sfnt.Font // of the regular face, which says what characters exist
	buffer     sfnt.Buffer
	advance    int // width of every character, pixels
	ascent     int
	lineHeight int // ascent and descent together
}

func loadFonts(size float64) (*fonts, error) {
	f := &fonts{}
	for _, face := range []struct {
		name string
		file []byte
		to   *font.Face
	}{
		{"Go Mono", gomono.TTF, &f.regular},
		{"Go Mono Bold", gomonobold.TTF, &f.bold},
		{"Go Mono Italic", gomonoitalic.TTF, &f.italic},
		{"Go Mono Bold Italic", gomonobolditalic.TTF, &f.boldItalic},
	} {
		parsed, err := opentype.Parse(face.file)
		if err != nil {
			return nil, fmt.Errorf("read the font %s: %w", face.name, err)
		}
		// At 72 dots per inch a point is a pixel.
		*face.to, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			return nil, fmt.Errorf("make the font %s at %g pixels: %w", face.name, size, err)
		}
		if f.table == nil {
			f.table = parsed
		}
	}
	advance, ok := f.regular.GlyphAdvance('M')
	if !ok || advance.Round() < 1 {
		return nil, fmt.Errorf("the font size %g is too small", size)
	}
	metrics := f.regular.Metrics()
	f.advance = advance.Round()
	f.ascent = metrics.Ascent.Round()
	f.lineHeight = f.ascent + metrics.Descent.Round()
	return f, nil
}

// face returns the face for the style.
func (f *fonts) face(style terminal.Style) font.Face {
	switch {
	case style.Bold && style.Italic:
		return f.boldItalic
	case style.Bold:
		return f.bold
	case style.Italic:
		return f.italic
	}
	return f.regular
}

// has reports whether the font has the character.
func (f *fonts) has(character rune) bool {
	index, err := f.table.GlyphIndex(&f.buffer, character)
	return err == nil && index != 0
}

func (f *fonts) close() error {
	return errors.Join(f.regular.Close(), f.bold.Close(), f.italic.Close(), f.boldItalic.Close())
}
