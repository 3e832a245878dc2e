package terminal

import (
	"context"
	"errors"
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// shell runs a script of the POSIX shell in a terminal.
func shell(t *testing.T, options Options, script string) *Terminal {
	t.Helper()
	if options.Env == nil {
		options.Env = []string{"TERM=xterm-256color", "PATH=/usr/bin:/bin"}
	}
	term, err := Start(options, "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := term.Close(); err != nil {
			t.Errorf("close the terminal: %v", err)
		}
	})
	return term
}

func TestTheScreenIsWhatTheUserWouldSee(t *testing.T) {
	term := shell(t, Options{Columns: 40, Rows: 5},
		`printf 'one\r\n\033[3;5H\033[1;31mr\303\251d\033[m\033[7mrev\033[m'; printf '\033]2;a title\007'; read -r wait`)
	screen := term.Want(t, All(Shows("rédrev"), That("a title", func(s Screen) bool { return s.Title != "" })))

	if got, want := screen.Lines(), []string{"one", "", "    rédrev", "", ""}; !slices.Equal(got, want) {
		t.Errorf("lines are %q, want %q", got, want)
	}
	if screen.Title != "a title" {
		t.Errorf("the title is %q", screen.Title)
	}
	column, row, found := screen.Find("drev")
	if !found || column != 6 || row != 2 {
		t.Errorf("found %v at column %d of row %d, want column 6 of row 2", found, column, row)
	}
	red := screen.Cells[2][4].Style
	if !red.Bold || red.Foreground != ansi.Red || red.Background != nil {
		t.Errorf("the style of the red text is %+v", red)
	}
	if !screen.Cells[2][7].Style.Reverse {
		t.Error("the reverse text is not")
	}
}

func TestTheProgramGetsWhatIsTypedAndOnlyTheEnvironmentGiven(t *testing.T) {
	t.Setenv("LEAK", "leaked")
	term := shell(t, Options{Env: []string{"TERM=xterm-256color", "PATH=/bin:/usr/bin", "GREETING=hello"}},
		`printf ready; read -r name; echo "$GREETING, $name:$LEAK:"; exit 3`)
	term.Want(t, Shows("ready"))
	term.Type("anna")
	if err := term.Press("enter"); err != nil {
		t.Fatal(err)
	}
	term.Want(t, Shows("hello, anna::"))
	if code := term.ExitCode(); code != 3 {
		t.Errorf("the exit code is %d, want 3", code)
	}
}

func TestPressRefusesAnUnknownKey(t *testing.T) {
	term := shell(t, Options{}, `read -r wait`)
	for _, name := range []string{"", "entr", "ctrl+", "ctrl+1", "ctrl+enter"} {
		if err := term.Press(name); err == nil {
			t.Errorf("the key %q was pressed", name)
		}
	}
}

func TestTheTerminalAnswersQuestions(t *testing.T) {
	tests := []struct {
		name, question, answer string
	}{
		{"device attributes", `\033[c`, `\033[?62;`},
		{"background colour", `\033]11;?\007`, `11;rgb:fafa/f5f5/f0f0`},
		{"synchronized output", `\033[?2026$p`, `\033[?2026;2$y`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			options := Options{Background: color.RGBA{0xfa, 0xf5, 0xf0, 0xff}}
			term := shell(t, options, `stty -echo -icanon min 1; printf '`+test.question+`'; dd bs=64 count=1 2>/dev/null | od -An -c | tr -d ' \n'`)
			// od prints escape as 033.
			term.Want(t, Shows(strings.ReplaceAll(test.answer, `\033`, "033")))
		})
	}
}

func TestAMuteTerminalAnswersNothing(t *testing.T) {
	// An answer would have come before what is typed when the text is there: the emulator shows it after both questions, and answers
	// one after the other.
	term := shell(t, Options{Mute: true}, `stty -echo -icanon min 1; printf '\033[c\033[c asked'
		printf '<%s>' "$(dd bs=1 count=1 2>/dev/null | od -An -c | tr -d ' \n')"; read -r wait`)
	term.Want(t, Shows("asked"))
	term.Type("x")
	if screen := term.Want(t, Matches(regexp.MustCompile(`<.+>`))); !screen.Contains("<x>") {
		t.Errorf("the program reads something before x:\n%s", screen)
	}
}

func TestAFrameOfSynchronizedOutputIsSeenWhole(t *testing.T) {
	// The program begins a frame, asks the terminal something, and waits for a key in the middle of the frame. The answer comes when the
	// emulator has taken what was written before the question.
	answered := filepath.Join(t.TempDir(), "answered")
	term := shell(t, Options{Columns: 30, Rows: 3}, `stty -echo -icanon min 1; printf 'first'; printf '\033[?2026h\033[Hsecond\033[c'
		dd bs=1 count=1 of=`+answered+` 2>/dev/null; stty icanon; read -r wait; printf '\033[2;1Hthird\033[?2026l'; read -r wait`)
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if answer, err := os.ReadFile(answered); err == nil && len(answer) > 0 {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("the terminal has not answered:\n%s", term.Screen())
		}
	}
	inFrame := term.Want(t, Shows("first"))
	if inFrame.Contains("second") {
		t.Fatalf("half a frame is shown:\n%s", inFrame)
	}
	if err := term.Press("enter"); err != nil {
		t.Fatal(err)
	}
	pressed := time.Now()
	whole := term.Want(t, Shows("third"))
	if !inFrame.At.Before(pressed) || whole.At.Before(inFrame.At) || time.Now().Before(whole.At) {
		t.Errorf("the screen before the frame came at %s, the frame at %s", inFrame.At, whole.At)
	}
	if !whole.Contains("second") {
		t.Errorf("the frame is not whole:\n%s", whole)
	}
	if whole.Written <= inFrame.Written {
		t.Errorf("%d bytes after the frame, %d before it", whole.Written, inFrame.Written)
	}
}

func TestResizeReachesTheProgram(t *testing.T) {
	// A shell looks for signals between two commands: one that comes right before a read would wait for its end.
	term := shell(t, Options{Columns: 80, Rows: 24}, `trap 'stty size' WINCH; printf 'ready '; while :; do sleep 0.1; done`)
	term.Want(t, Shows("ready"))
	if err := term.Resize(120, 40); err != nil {
		t.Fatal(err)
	}
	screen := term.Want(t, Shows("40 120"))
	if screen.Columns != 120 || screen.Rows != 40 {
		t.Errorf("the screen is %d by %d", screen.Columns, screen.Rows)
	}
}

func TestHangUpIsALostSession(t *testing.T) {
	term := shell(t, Options{}, `printf ready; read -r wait`)
	term.Want(t, Shows("ready"))
	if err := term.HangUp(); err != nil {
		t.Fatal(err)
	}
	if code := term.ExitCode(); code != -1 {
		t.Errorf("the exit code is %d; SIGHUP should have ended the program", code)
	}
	if !term.Screen().Contains("ready") {
		t.Error("the last screen is lost")
	}
}

func TestWhatTheProgramLeavesBehindIsKnown(t *testing.T) {
	term := shell(t, Options{},
		`printf '\033[?1049h\033[?25l\033[?2004h\033[>1u'; printf on; read -r wait; printf '\033[<u\033[?2004l\033[?25h\033[?1049l'; printf off`)
	on := term.Want(t, Shows("on"))
	if !on.AltScreen || !on.CursorHidden || !slices.Contains(on.Modes, 2004) || on.Keyboards != 1 {
		t.Errorf("alternate screen %v, cursor hidden %v, modes %v, keyboards %d", on.AltScreen, on.CursorHidden, on.Modes, on.Keyboards)
	}
	if err := term.Press("enter"); err != nil {
		t.Fatal(err)
	}
	term.ExitCode()
	off := term.Screen()
	if off.AltScreen || off.CursorHidden || slices.Contains(off.Modes, 2004) || off.Keyboards != 0 {
		t.Errorf("alternate screen %v, cursor hidden %v, modes %v, keyboards %d", off.AltScreen, off.CursorHidden, off.Modes, off.Keyboards)
	}
}

func TestWaitForFailsWithTheLastScreen(t *testing.T) {
	term := shell(t, Options{}, `echo what there is`)
	_, err := term.WaitFor(context.Background(), Shows("what there is not"))
	if err == nil {
		t.Fatal("a text that never comes has been seen")
	}
	for _, want := range []string{`the text "what there is not"`, "the program has ended", "\nwhat there is\n"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the failure lacks %q:\n%v", want, err)
		}
	}

	term = shell(t, Options{}, `printf ready; read -r wait`)
	term.Want(t, Matches(regexp.MustCompile(`^rea.y`)))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := term.WaitFor(ctx, Hides("ready")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the failure is %v", err)
	}
}

func TestStartOfAProgramThatIsNotThere(t *testing.T) {
	if _, err := Start(Options{}, "/nowhere/lockstep"); err == nil || !strings.Contains(err.Error(), "/nowhere/lockstep") {
		t.Errorf("the error is %v", err)
	}
}
