package sanitise

import (
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// Row is Text for a row of the screen.
func Row(s string) string { return cleaned.of(s).text }

// Measured is Row, and how many columns it takes.
func Measured(s string) (text string, width int) {
	c := cleaned.of(s)
	return c.text, c.width
}

// Width is how many columns a clean text takes.
func Width(s string) int {
	if Plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// clean is a text for a row of the screen, and the columns that it takes.
type clean struct {
	text  string
	width int
}

// memo keeps texts that were made clean. A screen is drawn several times a second, and nearly all of its texts were on the one before. It
// has two generations: what was not on the screen while one filled is forgotten with it.
type memo struct {
	mu       sync.Mutex
	now, was map[string]clean
}

var cleaned memo

// How much is kept: a screen has some hundred texts, and those that are longer are few.
const (
	mostCleaned    = 2048 // texts of a generation
	longestCleaned = 512  // bytes of a text
)

func (m *memo) of(s string) clean {
	if len(s) > longestCleaned {
		return cleanOf(s)
	}
	m.mu.Lock()
	c, there := m.now[s]
	if !there {
		if c, there = m.was[s]; there {
			m.keep(strings.Clone(s), c)
		}
	}
	m.mu.Unlock()
	if there {
		return c
	}
	s = strings.Clone(s) // it may be a piece of something large
	c = cleanOf(s)
	m.mu.Lock()
	m.keep(s, c)
	m.mu.Unlock()
	return c
}

// keep is called with mu held.
func (m *memo) keep(s string, c clean) {
	if m.now == nil || len(m.now) >= mostCleaned {
		m.was, m.now = m.now, make(map[string]clean, mostCleaned)
	}
	m.now[s] = c
}

func cleanOf(s string) clean {
	s = Text(s, RowLimit)
	return clean{s, Width(s)}
}
