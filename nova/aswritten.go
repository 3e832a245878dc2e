package nova

import (
	"cmp"

	"go.yaml.in/yaml/v3"
)

// YAML reads 1e5, 0123 and yes as a number or a truth value when they are not quoted; a password is what is written. gophercloud
// reads into fields of strings, which yaml.v2 fills with the scalar as it is written. So its reading is used for all fields, and
// nothing may read the file into numbers before. The one exception is null in all its spellings: there it means no value, and the
// field stays empty. For most fields that is the intention (project_name: null), and a password may be null because a token is
// used.

// secretsAsWritten lets a user whose password is the word null log in: with a user, and no other way to log in, that is the
// intention. The same holds for an application credential. The files are those from which the cloud was read, the strongest first.
func (c *Config) secretsAsWritten(files ...[]byte) {
	a := &c.auth
	if a.Password != "" || a.TokenID != "" || a.ApplicationCredentialSecret != "" {
		return
	}
	for _, file := range files {
		switch {
		case cmp.Or(a.ApplicationCredentialID, a.ApplicationCredentialName) != "":
			a.ApplicationCredentialSecret = cmp.Or(a.ApplicationCredentialSecret, writtenNothing(file, c.cloud, "application_credential_secret"))
		case cmp.Or(a.Username, a.UserID) != "":
			a.Password = cmp.Or(a.Password, writtenNothing(file, c.cloud, "password"))
		}
	}
}

// writtenNothing is the spelling of null in a field of a cloud's auth; empty when the field has a value or is missing.
func writtenNothing(file []byte, cloud, field string) string {
	var all struct {
		Clouds map[string]struct {
			Auth map[string]yaml.Node `yaml:"auth"`
		} `yaml:"clouds"`
	}
	if yaml.Unmarshal(file, &all) != nil {
		return "" // gophercloud has read it, so an error here does not matter
	}
	node := all.Clouds[cloud].Auth[field]
	if node.Alias != nil {
		node = *node.Alias
	}
	if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!null" {
		return ""
	}
	return node.Value
}
