// Command corpus collects the text that the embedded model is trained on: the Go toolchain's own source and
// documentation, and the modules of modules.txt at the versions given there.
//
//	go -C model/embedded/train run ./corpus -out ../../../.train
//
// It writes train.txt and valid.txt (documents in path order, each ended by a NUL byte) and manifest.txt (one line
// per document: split, SHA-256, bytes, path), and prints the sizes and digests that README.md records. The same
// toolchain and modules.txt give the same bytes.
package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

//go:embed modules.txt
var moduleList string

// validOneIn holds out every file whose digest's first two bytes are divisible by it: about 1 % of the files.
const validOneIn = 100

// minBytes and maxBytes bound a document; what is larger is nearly always a table.
const (
	minBytes = 128
	maxBytes = 300 << 10
)

// A root is one tree of files, named by prefix in the manifest.
type root struct {
	prefix string
	dir    string
	subs   []string // directories of dir to walk
	full   bool     // whether tests and HTML count too
}

func main() {
	out := flag.String("out", ".train", "directory to write to")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	roots, err := roots()
	if err != nil {
		return err
	}
	var train, valid, manifest bytes.Buffer
	seen := map[[32]byte]bool{}
	for _, r := range roots {
		files, size := 0, 0
		paths, err := r.paths()
		if err != nil {
			return err
		}
		for _, p := range paths {
			raw, err := os.ReadFile(filepath.Join(r.dir, p))
			if err != nil {
				return err
			}
			doc, ok := clean(p, raw)
			if !ok {
				continue
			}
			sum := sha256.Sum256(doc)
			if seen[sum] {
				continue
			}
			seen[sum] = true
			split, dst := "train", &train
			if (int(sum[0])<<8|int(sum[1]))%validOneIn == 0 {
				split, dst = "valid", &valid
			}
			dst.Write(doc)
			dst.WriteByte(0)
			fmt.Fprintf(&manifest, "%s %x %d %s\n", split, sum, len(doc), path.Join(r.prefix, filepath.ToSlash(p)))
			files++
			size += len(doc)
		}
		fmt.Printf("%-60s %6d files %10d bytes\n", r.prefix, files, size)
	}
	for _, f := range []struct {
		name string
		b    []byte
	}{{"train.txt", train.Bytes()}, {"valid.txt", valid.Bytes()}, {"manifest.txt", manifest.Bytes()}} {
		if err := os.WriteFile(filepath.Join(out, f.name), f.b, 0o644); err != nil {
			return err
		}
		fmt.Printf("%-12s %10d bytes  sha256 %x\n", f.name, len(f.b), sha256.Sum256(f.b))
	}
	return nil
}

// roots returns the Go toolchain's tree and then the modules' in modules.txt's order, downloading what is missing.
func roots() ([]root, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	rs := []root{{runtime.Version(), strings.TrimSpace(string(goroot)), []string{"doc", "src"}, true}}
	for line := range strings.Lines(moduleList) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		at := f[0] + "@" + f[1]
		text, err := exec.Command("go", "mod", "download", "-json", at).Output()
		if err != nil {
			return nil, fmt.Errorf("go mod download %s: %w", at, err)
		}
		var m struct{ Dir string }
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("go mod download %s: %w", at, err)
		}
		rs = append(rs, root{at, m.Dir, []string{"."}, false})
	}
	return rs, nil
}

// paths lists the files of r that may become documents, sorted.
func (r root) paths() ([]string, error) {
	var ps []string
	for _, sub := range r.subs {
		err := filepath.WalkDir(filepath.Join(r.dir, sub), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				switch d.Name() {
				case "testdata", "vendor", "third_party", "_gen", "archsimd", "node_modules":
					return fs.SkipDir
				}
				return nil
			}
			rel, err := filepath.Rel(r.dir, p)
			if err != nil {
				return err
			}
			if d.Type().IsRegular() && wanted(d.Name(), r.full) {
				ps = append(ps, rel)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(ps)
	return ps, nil
}

// generatedName matches the names that the toolchain and x/ give to generated tables.
var generatedName = regexp.MustCompile(`^z.*_|^z[a-z]+\.go$|tables?[0-9.]*(_.*)?\.go$|_string\.go$|\.pb(\.gw)?\.go$|_generated\.go$|_table\.go$`)

func wanted(name string, full bool) bool {
	switch path.Ext(name) {
	case ".go":
		return !generatedName.MatchString(name) && (full || !strings.HasSuffix(name, "_test.go"))
	case ".md":
		return !strings.HasPrefix(name, "CHANGELOG")
	case ".html":
		return full
	}
	return false
}

// generated is the marker that Go tools put into files nobody edits.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// clean returns the document made of a file: without its licence header and without carriage returns. It reports
// false for files that are generated, not text, too short or long, or mostly numbers.
func clean(name string, raw []byte) ([]byte, bool) {
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 || len(raw) > maxBytes {
		return nil, false
	}
	doc := bytes.ReplaceAll(raw, []byte("\r"), nil)
	if path.Ext(name) == ".go" {
		if generated.Match(doc) {
			return nil, false
		}
		doc = withoutLicence(doc)
	}
	doc = bytes.TrimLeft(doc, "\n")
	if len(doc) < minBytes || mostlyNumbers(doc) {
		return nil, false
	}
	return doc, true
}

// withoutLicence cuts the comments that mention a copyright off the front of a Go file. The notices stand in the
// README beside the model; repeated in each of thousands of files they would teach it nothing else.
func withoutLicence(doc []byte) []byte {
	for {
		doc = bytes.TrimLeft(doc, "\n")
		end := 0
		switch {
		case bytes.HasPrefix(doc, []byte("/*")):
			i := bytes.Index(doc, []byte("*/"))
			if i < 0 {
				return doc
			}
			end = i + len("*/")
		case bytes.HasPrefix(doc, []byte("//")):
			for bytes.HasPrefix(doc[end:], []byte("//")) {
				i := bytes.IndexByte(doc[end:], '\n')
				if i < 0 {
					return doc
				}
				end += i + 1
			}
		default:
			return doc
		}
		head := bytes.ToLower(doc[:end])
		if !bytes.Contains(head, []byte("copyright")) && !bytes.Contains(head, []byte("spdx-license")) {
			return doc
		}
		doc = doc[end:]
	}
}

// mostlyNumbers reports whether over a fifth of the document's characters are digits, or its lines average over 160
// bytes: a table, not prose or code.
func mostlyNumbers(doc []byte) bool {
	digits := 0
	for _, c := range doc {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits*5 > len(doc) || len(doc) > 160*(1+bytes.Count(doc, []byte("\n")))
}
