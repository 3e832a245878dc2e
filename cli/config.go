package cli

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/forecast"
	"lockstep/tui"
)

// configDefaults is the default configuration, with its explanations.
//
//go:embed config.yaml
var configDefaults []byte

// config is what the configuration file says; config.yaml explains it.
type config struct {
	Theme          string              `yaml:"theme"`
	ASCII          bool                `yaml:"ascii"`
	Clipboard      tui.Clipboard       `yaml:"clipboard"`
	SyncOutput     tui.SyncOutput      `yaml:"syncOutput"`
	Keys           map[string][]string `yaml:"keys"`
	LeaseNamespace string              `yaml:"leaseNamespace"`
	Operator       string              `yaml:"operator"`
	StaleAfter     time.Duration       `yaml:"staleAfter"`
	Overdue        float64             `yaml:"overdue"`
	MigrateAtOnce  int                 `yaml:"migrateAtOnce"`
	Window         string              `yaml:"window"`
	ActAs          []string            `yaml:"actAs"`
	Controllers    map[string]played   `yaml:"controllers"`
	Parallel       struct {
		Controller int `yaml:"controller"`
		Compute    int `yaml:"compute"`
		Gateway    int `yaml:"gateway"`
	} `yaml:"parallel"`
	RespectNovaAZ bool               `yaml:"respectNovaAZ"`
	NodeLabels    map[string]string  `yaml:"nodeLabels"`
	Management    session.Management `yaml:"management"`
	Clusters      map[string]access  `yaml:"clusters"`
	Notify        notify             `yaml:"notify"`
	Events        bool               `yaml:"events"`
	Record        string             `yaml:"record"`

	Alertmanager core.AlertmanagerPlace `yaml:"alertmanager"`

	folder string // the file's folder; relative paths start there
}

// maxConfig is the greatest size of a configuration file, in bytes: a larger one is another kind of file.
const maxConfig = 1 << 20

// configPath is where the configuration is looked for, and whether somebody named it: then it must exist.
func configPath(flag string) (path string, named bool) {
	if path = flag; path == "" {
		path = os.Getenv("LOCKSTEP_CONFIG")
	}
	if path != "" {
		return path, true
	}
	return filepath.Join(xdg.ConfigHome, "lockstep", "config.yaml"), false
}

// loadConfig reads the configuration file over the defaults.
func loadConfig(flag string) (config, error) {
	var c config
	if err := c.read(configDefaults); err != nil {
		return c, fmt.Errorf("the defaults: %w", err) // embedded, and tested
	}
	path, named := configPath(flag)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	switch {
	case err != nil:
		return c, fmt.Errorf("read the configuration: %w", err)
	case len(raw) > maxConfig:
		return c, fmt.Errorf("configuration %s: it is larger than %d bytes: it cannot be a configuration of Lockstep", path, maxConfig)
	}
	if err := c.read(raw); err != nil {
		return c, fmt.Errorf("configuration %s: %w\n`lockstep config` prints one with explanations", path, err)
	}
	c.folder = filepath.Dir(path)
	return c, nil
}

// themeName is the configuration's theme, with the path of a theme file.
func (c *config) themeName() string {
	if isThemeFile(c.Theme) && !filepath.IsAbs(c.Theme) {
		return filepath.Join(c.folder, c.Theme)
	}
	return c.Theme
}

// notAField is what the decoder says of a field that it does not know, of any section.
var notAField = regexp.MustCompile(` not found in type \w+\.\S+`)

// read takes over the values of a file, and fails on unknown ones.
func (c *config) read(raw []byte) error {
	c.Keys, c.Clusters = nil, nil
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		var typed *yaml.TypeError
		if errors.As(err, &typed) {
			text := strings.Join(typed.Errors, "\n")
			return errors.New(notAField.ReplaceAllString(text, " is not a field of the configuration"))
		}
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var wrong []string
	for _, check := range []struct {
		path string
		ok   bool
		want string
	}{
		{"clipboard", c.Clipboard == tui.ClipboardAuto || c.Clipboard == tui.ClipboardOff, "auto or off"},
		{"syncOutput", c.SyncOutput == tui.SyncAuto || c.SyncOutput == tui.SyncOn || c.SyncOutput == tui.SyncOff, "auto, on or off"},
		{"leaseNamespace", c.LeaseNamespace != "", "the name of a namespace"},
		{"staleAfter", c.StaleAfter >= 10*time.Second && c.StaleAfter <= 10*time.Minute, "10s to 10m"},
		{"overdue", c.Overdue >= 1 && c.Overdue <= 20, "1 to 20"},
		{"migrateAtOnce", c.MigrateAtOnce >= 1 && c.MigrateAtOnce <= 10, "1 to 10"},
		{"parallel.controller", c.Parallel.Controller >= 1, "1 or more"},
		{"parallel.compute", c.Parallel.Compute >= 1, "1 or more"},
		{"parallel.gateway", c.Parallel.Gateway >= 1, "1 or more"},
	} {
		if !check.ok {
			wrong = append(wrong, fmt.Sprintf("line %d: %s: want %s", lineOf(&document, strings.Split(check.path, ".")...), check.path, check.want))
		}
	}
	if _, err := tui.Rebind(tui.Actions(), c.Keys); err != nil {
		wrong = append(wrong, fmt.Sprintf("line %d: %v", lineOf(&document, "keys"), err))
	}
	if _, ok := core.OperatorName(c.Operator); !ok {
		wrong = append(wrong, fmt.Sprintf("line %d: operator: want %s", lineOf(&document, "operator"), nameWanted))
	}
	if _, err := c.window(); err != nil {
		wrong = append(wrong, fmt.Sprintf("line %d: window: %v", lineOf(&document, "window"), err))
	}
	if _, err := c.roleLabels(); err != nil {
		wrong = append(wrong, fmt.Sprintf("line %d: nodeLabels: %v", lineOf(&document, "nodeLabels"), err))
	}
	if err := c.checkControllers(); err != nil {
		wrong = append(wrong, fmt.Sprintf("line %d: %v", lineOf(&document, "controllers"), err))
	}
	if err := c.Notify.check(); err != nil {
		wrong = append(wrong, fmt.Sprintf("line %d: notify: %v", lineOf(&document, "notify"), err))
	}
	if err := checkAlertmanager(c.Alertmanager); err != nil {
		wrong = append(wrong, fmt.Sprintf("line %d: alertmanager: %v", lineOf(&document, "alertmanager"), err))
	}
	if err := c.checkClusters(); err != nil {
		wrong = append(wrong, fmt.Sprintf("line %d: clusters: %v", lineOf(&document, "clusters"), err))
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}

// nameWanted is what the name of an operator may be.
var nameWanted = fmt.Sprintf("a name of at most %d letters, digits, spaces and . - _ + @ '", core.MaxOperatorName)

// lineOf is the line of a value, or of what encloses it when the value is missing.
func lineOf(n *yaml.Node, path ...string) int {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		return lineOf(n.Content[0], path...)
	}
	if len(path) > 0 && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == path[0] {
				return lineOf(n.Content[i+1], path[1:]...)
			}
		}
	}
	return max(n.Line, 1)
}

// settings are the engine's.
func (c config) settings() core.Settings {
	s := core.DefaultSettings()
	s.StaleAfter, s.Overdue, s.MigrateAtOnce = c.StaleAfter, c.Overdue, c.MigrateAtOnce
	s.MaxParallelNodes[core.RoleController] = c.Parallel.Controller
	s.MaxParallelNodes[core.RoleCompute], s.MaxParallelNodes[core.RoleGateway] = c.Parallel.Compute, c.Parallel.Gateway
	s.AcrossZones = !c.RespectNovaAZ
	s.RoleLabels, _ = c.roleLabels() // checked when it was read
	return s
}

// window is the maintenance window of each day; zero when none is set.
func (c config) window() (forecast.Window, error) {
	if c.Window == "" {
		return forecast.Window{}, nil
	}
	return forecast.ParseWindow(c.Window)
}

// roleLabels are the labels of nodes' roles for when the controller's Deployment names none; nil when the configuration names
// none either.
func (c config) roleLabels() (core.RoleLabels, error) {
	if len(c.NodeLabels) == 0 {
		return nil, nil
	}
	labels := core.DefaultRoleLabels()
	for _, role := range slices.Sorted(maps.Keys(c.NodeLabels)) {
		if _, known := labels[core.Role(role)]; !known {
			return nil, fmt.Errorf("%s: want one of controller, compute and gateway", role)
		}
		l, err := core.ParseRoleLabel(c.NodeLabels[role])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", role, err)
		}
		labels[core.Role(role)] = l
	}
	return labels, nil
}

func newConfig(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print a configuration with all defaults and their explanations",
		Long: `Prints a configuration file with all defaults and what they mean: a start for your own.
On standard error it says where the file is looked for, and what is wrong with the one that exists.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, _ := configPath(o.configFile)
			_, missing := os.Stat(path)
			c, err := loadConfig(o.configFile)
			if err == nil {
				if _, err = loadTheme(c.themeName()); err != nil {
					err = fmt.Errorf("configuration %s: the theme: %w", path, err)
				}
			}
			switch {
			case err != nil:
				return err
			case missing != nil:
				fmt.Fprintf(cmd.ErrOrStderr(), "there is no %s; these defaults apply:\n", path)
			default:
				fmt.Fprintf(cmd.ErrOrStderr(), "%s is valid; without it, these defaults would apply:\n", path)
			}
			_, err = cmd.OutOrStdout().Write(configDefaults)
			return err
		},
	}
}
