package terminal

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// keys are the bytes that an xterm sends for its named keys.
var keys = map[string]string{
	"enter":     "\r",
	"tab":       "\t",
	"shift+tab": "\x1b[Z",
	"esc":       "\x1b",
	"space":     " ",
	"backspace": "\x7f",
	"delete":    "\x1b[3~",
	"insert":    "\x1b[2~",
	"up":        "\x1b[A",
	"down":      "\x1b[B",
	"right":     "\x1b[C",
	"left":      "\x1b[D",
	"home":      "\x1b[H",
	"end":       "\x1b[F",
	"pgup":      "\x1b[5~",
	"pgdown":    "\x1b[6~",
	"f1":        "\x1bOP",
	"f2":        "\x1bOQ",
	"f3":        "\x1bOR",
	"f4":        "\x1bOS",
	"f5":        "\x1b[15~",
	"f6":        "\x1b[17~",
	"f7":        "\x1b[18~",
	"f8":        "\x1b[19~",
	"f9":        "\x1b[20~",
	"f10":       "\x1b[21~",
	"f11":       "\x1b[23~",
	"f12":       "\x1b[24~",
}

// unmistakableEscape is the escape key for a program that has asked for keys that cannot be mistaken (kitty protocol), as
// Lockstep does. Otherwise a lone escape and the next key are two keys only if the program reads them quickly enough.
const unmistakableEscape = "\x1b[27u"

// disambiguates reports whether the program has asked for unmistakable keys.
func (t *Terminal) disambiguates() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state.keyboards > 0
}

// Type types the text, character by character.
func (t *Terminal) Type(text string) {
	t.input.add([]byte(text), 0)
}

// Press presses keys, one after the other. A key is a single character, a name (enter, tab, shift+tab, esc, space, backspace,
// delete, insert, up, down, left, right, home, end, pgup, pgdown, f1 to f12), or ctrl+ and a letter.
func (t *Terminal) Press(names ...string) error {
	for _, name := range names {
		sequence, err := sequenceOf(name)
		if err != nil {
			return err
		}
		var pause time.Duration
		if name == "esc" && t.disambiguates() {
			sequence = unmistakableEscape
		} else if name == "esc" {
			pause = escapePause
		}
		t.input.add([]byte(sequence), pause)
	}
	return nil
}

func sequenceOf(name string) (string, error) {
	if sequence, ok := keys[name]; ok {
		return sequence, nil
	}
	if utf8.RuneCountInString(name) == 1 {
		return name, nil
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok && len(letter) == 1 && letter >= "a" && letter <= "z" {
		return string(rune(letter[0] - 'a' + 1)), nil
	}
	return "", fmt.Errorf("no key is called %q", name)
}
