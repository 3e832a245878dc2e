package tui

import (
	"reflect"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea's program has the ticker that frames sets. Where it is called otherwise, keys wait for a tick of frameRate.
func TestTheTickerIsFound(t *testing.T) {
	field, there := reflect.TypeFor[tea.Program]().FieldByName("ticker")
	if !there || field.Type != reflect.TypeFor[*time.Ticker]() {
		t.Error("Bubble Tea's Program has no *time.Ticker called ticker: see how it shows a frame now")
	}
}
