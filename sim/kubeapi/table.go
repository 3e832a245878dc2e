package kubeapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/util/jsonpath"
)

// column is one column of kubectl get.
type column struct {
	metav1.TableColumnDefinition
	cell func(s *Server, content map[string]any) any
}

var nameColumn = column{
	TableColumnDefinition: metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name",
		Description: "Name must be unique within a namespace."},
	cell: func(_ *Server, content map[string]any) any { return accessor(content).GetName() },
}

// includeObject reads which part of an object the rows of a Table carry.
func includeObject(query url.Values) (metav1.IncludeObjectPolicy, error) {
	switch policy := metav1.IncludeObjectPolicy(query.Get("includeObject")); policy {
	case "":
		return metav1.IncludeMetadata, nil
	case metav1.IncludeNone, metav1.IncludeMetadata, metav1.IncludeObject:
		return policy, nil
	default:
		return "", apierrors.NewBadRequest(fmt.Sprintf("includeObject: unsupported value %q", policy))
	}
}

// table shows objects as rows.
func (s *Server) table(r *resource, objects []*object, include metav1.IncludeObjectPolicy, headers bool) *metav1.Table {
	columns := r.columns
	switch {
	case columns == nil && r.custom():
		columns = []column{createdColumn}
	case columns == nil:
		columns = []column{ageColumn}
	}
	table := &metav1.Table{
		TypeMeta:          metav1.TypeMeta{Kind: "Table", APIVersion: metav1.SchemeGroupVersion.String()},
		ColumnDefinitions: []metav1.TableColumnDefinition{},
		Rows:              make([]metav1.TableRow, 0, len(objects)),
	}
	if r.kind != "Event" { // an Event's name says nothing, so it comes last
		columns = append([]column{nameColumn}, columns...)
	}
	if headers {
		for _, c := range columns {
			table.ColumnDefinitions = append(table.ColumnDefinitions, c.TableColumnDefinition)
		}
	}
	for _, o := range objects {
		row := metav1.TableRow{Cells: make([]any, 0, len(columns))}
		for _, c := range columns {
			row.Cells = append(row.Cells, c.cell(s, o.content))
		}
		switch include {
		case metav1.IncludeMetadata:
			row.Object = runtime.RawExtension{Raw: partial(o)}
		case metav1.IncludeObject:
			row.Object = runtime.RawExtension{Raw: r.shown(o).json()}
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// partial returns the object's metadata as a PartialObjectMetadata.
func partial(o *object) []byte {
	raw, err := json.Marshal(map[string]any{
		"kind": "PartialObjectMetadata", "apiVersion": metav1.SchemeGroupVersion.String(), "metadata": o.content["metadata"]})
	if err != nil {
		return []byte("null") // content came from JSON
	}
	return raw
}

// definedColumns returns the columns of a CustomResourceDefinition; nil for none.
func definedColumns(defined []printerColumn) ([]column, error) {
	var columns []column
	for _, d := range defined {
		path := jsonpath.New(d.Name).AllowMissingKeys(true)
		if err := path.Parse("{" + d.JSONPath + "}"); err != nil {
			return nil, fmt.Errorf("column %q: %w", d.Name, err)
		}
		description := d.Description
		if description == "" {
			description = "Custom resource definition column (in JSONPath format): " + d.JSONPath
		}
		columns = append(columns, column{
			TableColumnDefinition: metav1.TableColumnDefinition{Name: d.Name, Type: d.Type, Format: d.Format, Description: description,
				Priority: d.Priority},
			cell: definedCell(path, d.Type),
		})
	}
	return columns, nil
}

func definedCell(path *jsonpath.JSONPath, kind string) func(*Server, map[string]any) any {
	return func(s *Server, content map[string]any) any {
		results, err := path.FindResults(content)
		if err != nil || len(results) == 0 || len(results[0]) == 0 {
			return nil
		}
		value := results[0][0].Interface()
		switch kind {
		case "string":
			var text bytes.Buffer
			if path.PrintResults(&text, []reflect.Value{reflect.ValueOf(value)}) != nil {
				return nil
			}
			return text.String()
		case "integer":
			if number, ok := value.(float64); ok {
				return int64(number)
			}
		case "number":
			if number, ok := value.(int64); ok {
				return float64(number)
			}
		case "date":
			text, _ := value.(string)
			return s.age(text)
		}
		return value
	}
}

// age is the time since a timestamp, by the simulated clock, in kubectl's format.
func (s *Server) age(timestamp string) string {
	if timestamp == "" {
		return "<unknown>"
	}
	at, err := time.Parse(time.RFC3339, timestamp)
	if err != nil {
		return "<invalid>"
	}
	return duration.HumanDuration(s.now().Sub(at))
}
