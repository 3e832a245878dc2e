package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/tui/table"
)

// rowMoves are the keys by which a cursor moves in a list; on moves the list where the operator is.
func rowMoves(id string, on func(move func(l table.List)) func(*Model) tea.Cmd) []Action {
	var all []Action
	for _, mv := range []struct {
		id, title string
		keys      []string
		move      func(l table.List)
	}{
		{"down", "Go down a row", []string{"down", "j"}, func(l table.List) { l.MoveBy(1) }},
		{"up", "Go up a row", []string{"up", "k"}, func(l table.List) { l.MoveBy(-1) }},
		{"page.down", "Go down a page", []string{"pgdown"}, func(l table.List) { l.MoveBy(l.Page()) }},
		{"page.up", "Go up a page", []string{"pgup"}, func(l table.List) { l.MoveBy(-l.Page()) }},
		{"first", "Go to the first row", []string{"home", "g"}, func(l table.List) { l.GoTo(0) }},
		{"last", "Go to the last row", []string{"end", "G"}, func(l table.List) { l.MoveBy(1 << 30) }},
	} {
		all = append(all, Action{ID: id + "." + mv.id, Title: mv.title, Short: mv.id, Keys: mv.keys, run: on(mv.move)})
	}
	return all
}

// scrolled is a page of lines; its height is what fits on the screen.
type scrolled interface {
	scrollBy(lines int)
	pageHeight() int
}

// scrollMoves are the keys by which a page of lines scrolls; the ends have names of their own. on finds the page.
func scrollMoves(id string, ends [2]Action, on func(move func(p scrolled)) func(*Model) tea.Cmd) []Action {
	var all []Action
	for _, mv := range []struct {
		id, title, short string
		keys             []string
		by               func(height int) int
	}{
		{"down", "Scroll down", "down", []string{"down", "j", "enter"}, func(int) int { return 1 }},
		{"up", "Scroll up", "up", []string{"up", "k"}, func(int) int { return -1 }},
		{"page.down", "Scroll down a page", "page down", []string{"pgdown", "space", "ctrl+f"}, func(h int) int { return h - 1 }},
		{"page.up", "Scroll up a page", "page up", []string{"pgup", "ctrl+u"}, func(h int) int { return 1 - h }},
		{"first", ends[0].Title, ends[0].Short, []string{"home", "g"}, func(int) int { return -1 << 30 }},
		{"last", ends[1].Title, ends[1].Short, []string{"end", "G"}, func(int) int { return 1 << 30 }},
	} {
		all = append(all, Action{ID: id + "." + mv.id, Title: mv.title, Short: mv.short, Keys: mv.keys,
			run: on(func(p scrolled) { p.scrollBy(mv.by(p.pageHeight())) })})
	}
	return all
}
