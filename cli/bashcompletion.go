package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// packageNeeded is what cobra's script for bash asks of the package bash-completion.
const packageNeeded = `    _get_comp_words_by_ref "$@" cur prev words cword
`

// withoutPackage does the same where that package is not installed, as on a jump host where nobody may install anything.
const withoutPackage = `    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local typed="${COMP_LINE:0:COMP_POINT}"
    read -r -a words <<<"$typed"
    if [[ ${#words[@]} -eq 0 || $typed == *[[:space:]] ]]; then
        words+=("")
    fi
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
`

// completeInPlainBash has the script for bash work without the package bash-completion. The root's output is set before.
func completeInPlainBash(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil || bash.Name() != "bash" {
		return // then it is as cobra has it
	}
	from, to := strings.Index(bash.Long, "This script depends"), strings.Index(bash.Long, "To load completions in your current")
	if from >= 0 && to > from {
		bash.Long = bash.Long[:from] + bash.Long[to:]
	}
	bash.RunE = func(cmd *cobra.Command, _ []string) error {
		plain, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		var script bytes.Buffer
		if err := cmd.Root().GenBashCompletionV2(&script, !plain); err != nil {
			return err
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), strings.Replace(script.String(), packageNeeded, withoutPackage, 1))
		return err
	}
}
