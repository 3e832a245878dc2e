package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// addRecord adds the flag of the commands that can record what they see.
func (o *options) addRecord(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.record, "record", "",
		"record what is seen and done in this `file`, for lockstep replay; of a folder: in a new file there (default: the configuration's)")
}

// recordWhereAsked sets where to record. A folder of the configuration is made when it does not exist. A recording that only the
// configuration wants is no reason not to start.
func (o *options) recordWhereAsked() {
	folder := o.config.Record
	o.RecordPath, o.MustRecord = o.record, o.record != ""
	if o.MustRecord || folder == "" {
		return
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(o.config.folder, folder)
	}
	_ = os.MkdirAll(folder, 0o700) // else the recording cannot begin, and that says why
	o.RecordPath = folder + string(filepath.Separator)
}
